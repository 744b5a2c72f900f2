// SPDX-License-Identifier: Apache-2.0
//
// Tests the output for the worst names that a trace can contain. tests/check tests whether the formats are valid.
#include "analyzer/render/check/check_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace vramtrack {
namespace {

using Json = nlohmann::json;

CheckReport Sample() {
  CheckReport report;
  report.tool_version = "1.2.3";
  report.trace = "runs/<night>&\"1\"";
  report.steps = 60;
  report.sites = 2;
  report.devices = 1;
  report.failed = report.excepted = 1;
  CheckFinding leak;
  leak.rule = "leak";
  leak.subject = "operator<<\n::error file=x::";
  leak.message = "leaks 100 % of it: a, b";
  leak.site = leak.key = "0a1b";
  leak.device = 0;
  leak.value = 4096;
  leak.unit = CheckUnit::kBytesPerStep;
  leak.file = "src/a,b:c 100%/\xc3\xa4.cu";
  leak.line = 7;
  ReportFrame frame;
  frame.function = "std::operator<< <char>(\"&'\xff\x01)";
  frame.file = leak.file;
  frame.line = 7;
  leak.frames = {frame, ReportFrame{}};
  CheckFinding known = leak;
  known.status = CheckFinding::Status::kExcepted;
  known.rule = "peak";
  known.subject = "device 0";
  known.message = "full";
  known.site = known.file = "";
  known.key = "peak|device 0";
  known.frames.clear();
  known.reason = "it's <known>]]>";
  known.expires = "2026-12-31";
  report.findings = {leak, known};
  report.rules = {{"leak", CheckedRule::Result::kFailed, 2, ""},
                  {"peak", CheckedRule::Result::kPassed, 1, ""},
                  {"growth", CheckedRule::Result::kNotJudged, 0, "too <few>"}};
  report.warnings = {"a\nnote"};
  return report;
}

TEST(CheckOutput, TextIsOneLineAFinding) {
  EXPECT_EQ(
      RenderCheckText(Sample()),
      "FAIL      leak           src/a,b:c 100%/\xc3\xa4.cu:7  operator<<\\x0a::error file=x:: leaks 100 % of it: a, b  "
      "[0a1b]\n"
      "excepted  peak           device 0: full; excepted until 2026-12-31: it's <known>]]>\n"
      "unknown   growth         too <few>\n"
      "note: a\\x0anote\n"
      "failed: 1 finding against 1 rule of 3, 1 excepted (2 sites, 60 steps, 1 device)\n");
}

TEST(CheckOutput, AnnotationsAreEscaped) {
  EXPECT_EQ(
      RenderCheckGithub(Sample()),
      "::error file=src/a%2Cb%3Ac 100%25/\xc3\xa4.cu,line=7,title=Memory leak::operator<<\\x0a::error file=x:: leaks "
      "100 %25 of it: a, b\n"
      "::notice title=Peak of live memory::device 0: full; excepted until 2026-12-31: it's <known>]]>\n"
      "::notice title=vramtrack::a\\x0anote\n"
      "vramtrack check failed: 1 finding against 1 rule of 3, 1 excepted (2 sites, 60 steps, 1 device)\n");
}

TEST(CheckOutput, CodeQualityHasAPlaceForEverything) {
  CheckReport report = Sample();
  const Json leak = Json::parse(RenderCheckGitlab(report));
  ASSERT_EQ(leak.size(), 1);  // the other one is put up with
  EXPECT_EQ(leak[0]["description"], "operator<<\\x0a::error file=x:: leaks 100 % of it: a, b");
  EXPECT_EQ(leak[0]["fingerprint"], "leak|0a1b");
  EXPECT_EQ(leak[0]["location"]["path"], "src/a,b:c 100%/\xc3\xa4.cu");
  EXPECT_EQ(leak[0]["location"]["lines"]["begin"], 7);
  EXPECT_EQ(leak[0]["severity"], "major");
  report.findings[1].status = CheckFinding::Status::kWarning;
  const Json peak = Json::parse(RenderCheckGitlab(report))[1];
  EXPECT_EQ(peak["location"]["path"], report.trace);
  EXPECT_EQ(peak["location"]["lines"]["begin"], 1);
  EXPECT_EQ(peak["severity"], "minor");
}

TEST(CheckOutput, JunitHasACaseForEachRule) {
  const std::string xml = RenderCheckJunit(Sample());
  EXPECT_NE(xml.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"runs/&lt;night&gt;&amp;&quot;1&quot;\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("<skipped message=\"too &lt;few&gt;\"/>"), std::string::npos) << xml;
  EXPECT_NE(xml.find("it&apos;s &lt;known&gt;]]&gt;"), std::string::npos) << xml;
  EXPECT_EQ(xml.find('\x01'), std::string::npos);
}

TEST(CheckOutput, SarifKeepsItsKeysWhateverLinesMove) {
  CheckReport report = Sample();
  const Json before = Json::parse(RenderCheckSarif(report))["runs"][0]["results"];
  report.findings[0].line = report.findings[0].frames[0].line = 8;
  const Json after = Json::parse(RenderCheckSarif(report))["runs"][0]["results"];
  EXPECT_EQ(before[0]["partialFingerprints"], after[0]["partialFingerprints"]);
  EXPECT_EQ(before[0]["partialFingerprints"]["vramtrackSite/v1"], "leak|0a1b");
  EXPECT_NE(before[0]["locations"], after[0]["locations"]);
  EXPECT_EQ(before[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "src/a%2Cb%3Ac%20100%25/%C3%A4.cu");
  EXPECT_EQ(before[1]["suppressions"][0]["justification"], "it's <known>]]>");
  EXPECT_FALSE(before[1].contains("locations"));
}

TEST(CheckOutput, JsonSaysItAll) {
  const Json json = Json::parse(RenderCheckJson(Sample()));
  EXPECT_EQ(json["result"], "failed");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["findings"][0]["rule"], "leak");
  EXPECT_EQ(json["findings"][1]["exception"]["expires"], "2026-12-31");
  EXPECT_EQ(json["rules"][2]["result"], "not_judged");
}

TEST(CheckOutput, SaysWhenThereIsTooLittleEvidence) {
  CheckReport report = Sample();
  report.findings.clear();
  report.failed = report.excepted = 0;
  report.enough_evidence = false;
  report.evidence_note = "8 steps";
  EXPECT_EQ(Json::parse(RenderCheckJson(report))["result"], "not_enough_evidence");
  EXPECT_NE(RenderCheckText(report).find("not enough evidence: 8 steps"), std::string::npos);
  EXPECT_NE(RenderCheckGithub(report).find("::warning title=Not enough evidence::8 steps\n"), std::string::npos);
  EXPECT_EQ(ExitCodeOf(report), 3);
}

}  // namespace
}  // namespace vramtrack
