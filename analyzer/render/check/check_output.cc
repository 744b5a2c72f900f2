// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/check/check_output.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/check_report.h"
#include "analyzer/render/json/json_fields.h"

namespace vramtrack {
namespace {

constexpr int kStatusColumns = 10, kRuleColumns = 15;

// What the status of a finding is called, by those who read it.
struct StatusWords {
  const char *text, *json, *github, *sarif;
};
const StatusWords& WordsOf(CheckFinding::Status status) {
  static constexpr StatusWords kWords[] = {{"FAIL", "failed", "error", "error"},
                                           {"warning", "warning", "warning", "warning"},
                                           {"excepted", "excepted", "notice", "note"}};
  return kWords[static_cast<size_t>(status)];
}

// The finding without its place: "leak: Attention::Forward leaks 768 KiB per step ...".
std::string CheckSentence(const CheckFinding& finding) {
  std::string text = absl::StrCat(finding.subject, finding.site.empty() ? ": " : " ", finding.message);
  if (finding.status == CheckFinding::Status::kExcepted) {
    absl::StrAppend(&text, "; excepted ", finding.expires == "never" ? "for good" : "until " + finding.expires, ": ",
                    finding.reason);
  }
  return Printable(text);
}

// The result and its reason, such as "failed: 2 findings against 1 rule of 9 (38 sites, 60 steps, 1 device)"; the other
// results are "passed" and "not enough evidence".
std::string CheckTotals(const CheckReport& report) {
  const std::string looked_at =
      absl::StrCat(Plural(report.sites, "site", "sites"), ", ", Plural(report.steps, "step", "steps"), ", ",
                   Plural(report.devices, "device", "devices"));
  std::vector<std::string> parts;
  size_t failed_rules = 0;
  for (const CheckedRule& rule : report.rules) failed_rules += rule.result == CheckedRule::Result::kFailed;
  std::string word = "passed";
  if (report.failed > 0) {
    word = "failed";
    parts.push_back(absl::StrCat(Plural(report.failed, "finding", "findings"), " against ",
                                 Plural(failed_rules, "rule", "rules"), " of ", report.rules.size()));
  } else if (!report.enough_evidence) {
    word = "not enough evidence";
    parts.push_back(Printable(report.evidence_note));
  } else {
    parts.push_back(absl::StrCat("nothing against ", Plural(report.rules.size(), "rule", "rules")));
  }
  if (report.warned > 0) parts.push_back(Plural(report.warned, "warning", "warnings"));
  if (report.excepted > 0) parts.push_back(absl::StrCat(report.excepted, " excepted"));
  return absl::StrCat(word, ": ", absl::StrJoin(parts, ", "), " (", looked_at, ")");
}

std::string Place(const CheckFinding& finding) {
  return absl::StrCat(finding.file, finding.file.empty() || finding.line == 0 ? "" : absl::StrCat(":", finding.line));
}

// As @actions/core escapes them.
std::string Message(const std::string& text) {
  return absl::StrReplaceAll(Printable(text), {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}
std::string Property(const std::string& text) {
  return absl::StrReplaceAll(Message(text), {{":", "%3A"}, {",", "%2C"}});
}

// Printable() leaves no character that XML 1.0 cannot hold.
std::string Xml(const std::string& text) {
  return absl::StrReplaceAll(Printable(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&apos;"}});
}

// The findings of one rule with this status, a line each.
std::vector<std::string> Lines(const CheckReport& report, const std::string& rule, CheckFinding::Status status) {
  std::vector<std::string> lines;
  for (const CheckFinding& finding : report.findings) {
    if (finding.rule != rule || finding.status != status) continue;
    const std::string place = Place(finding);
    lines.push_back(absl::StrCat(place, place.empty() ? "" : ": ", CheckSentence(finding)));
  }
  return lines;
}

std::string XmlLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, Xml(line), "\n");
  return text;
}

std::string Dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json FindingJson(const CheckFinding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["status"] = WordsOf(finding.status).json;
  json["subject"] = finding.subject;
  json["message"] = finding.message;
  json["site"] = finding.site.empty() ? Json(nullptr) : Json(finding.site);
  json["key"] = finding.key;
  json["device"] = ToJson(finding.device);
  json["rank"] = ToJson(finding.rank);
  json["value"] = ToJson(finding.value);
  json["limit"] = ToJson(finding.limit);
  json["unit"] = NameOf(finding.unit);
  json["file"] = finding.file;
  json["line"] = finding.line;
  json["exception"] = nullptr;
  if (!finding.expires.empty()) {
    json["exception"] = {{"reason", finding.reason}, {"expires", finding.expires}, {"expired", finding.expired}};
  }
  json["naming_frame"] = finding.naming_frame;
  json["frames"] = Json::array();
  for (const ReportFrame& frame : finding.frames) {
    json["frames"].push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return json;
}

// Paths as the references that SARIF wants: what has a meaning there, and other characters than ASCII, are written by
// their bytes.
std::string UriOf(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = path.empty() || path[0] != '/' ? "" : "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (isalnum(byte) != 0 || std::string("-._~/").find(c) != std::string::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

Json LocationJson(const std::string& file, uint32_t line, const std::string& function) {
  Json location = Json::object();
  if (!file.empty()) {
    Json artifact = {{"uri", UriOf(file)}};
    if (file[0] != '/') artifact["uriBaseId"] = "%SRCROOT%";
    location["physicalLocation"]["artifactLocation"] = std::move(artifact);
    if (line > 0) location["physicalLocation"]["region"]["startLine"] = line;
  }
  if (!function.empty()) {
    location["logicalLocations"] = Json::array({{{"fullyQualifiedName", Printable(function)}, {"kind", "function"}}});
  }
  return location;
}

Json ResultJson(const CheckFinding& finding, size_t rule_index) {
  Json result;
  result["ruleId"] = finding.rule;
  result["ruleIndex"] = rule_index;
  result["level"] = WordsOf(finding.status).sarif;
  result["message"]["text"] = CheckSentence(finding);
  const bool framed = finding.naming_frame < finding.frames.size();
  Json location = LocationJson(finding.file, finding.line, framed ? finding.frames[finding.naming_frame].function : "");
  if (!location.empty()) result["locations"] = Json::array({std::move(location)});
  if (!finding.frames.empty()) {
    Json frames = Json::array();
    for (const ReportFrame& frame : finding.frames) {
      Json one = LocationJson(frame.file, frame.line, frame.function);
      frames.push_back(one.empty() ? Json::object() : Json({{"location", std::move(one)}}));
    }
    result["stacks"] =
        Json::array({{{"message", {{"text", "most recent call first"}}}, {"frames", std::move(frames)}}});
  }
  result["partialFingerprints"]["vramtrackSite/v1"] = finding.rule + "|" + finding.key;
  if (finding.status == CheckFinding::Status::kExcepted) {
    result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", Printable(finding.reason)}}});
  }
  result["properties"]["value"] = ToJson(finding.value);
  if (finding.limit) result["properties"]["limit"] = ToJson(*finding.limit);
  result["properties"]["unit"] = NameOf(finding.unit);
  return result;
}

}  // namespace

std::string RenderCheckText(const CheckReport& report) {
  std::string text;
  for (const CheckFinding& finding : report.findings) {
    absl::StrAppend(&text, PadRight(WordsOf(finding.status).text, kStatusColumns), PadRight(finding.rule, kRuleColumns),
                    finding.rule.size() < kRuleColumns ? "" : "  ", Printable(Place(finding)),
                    finding.file.empty() ? "" : "  ", CheckSentence(finding));
    if (!finding.site.empty()) absl::StrAppend(&text, "  [", finding.site, "]");
    text += "\n";
  }
  for (const CheckedRule& rule : report.rules) {
    if (rule.result != CheckedRule::Result::kNotJudged) continue;
    absl::StrAppend(&text, PadRight("unknown", kStatusColumns), PadRight(rule.rule, kRuleColumns), Printable(rule.note),
                    "\n");
  }
  for (const std::string& line : report.warnings) absl::StrAppend(&text, "note: ", Printable(line), "\n");
  return absl::StrCat(text, CheckTotals(report), "\n");
}

std::string RenderCheckGithub(const CheckReport& report) {
  std::string text;
  for (const CheckFinding& finding : report.findings) {
    absl::StrAppend(&text, "::", WordsOf(finding.status).github, " ");
    if (!finding.file.empty()) absl::StrAppend(&text, "file=", Property(finding.file), ",");
    if (!finding.file.empty() && finding.line > 0) absl::StrAppend(&text, "line=", finding.line, ",");
    const CheckRule* rule = FindRule(finding.rule);
    absl::StrAppend(&text, "title=", Property(rule == nullptr ? finding.rule : rule->title),
                    "::", Message(CheckSentence(finding)), "\n");
  }
  if (report.failed == 0 && !report.enough_evidence) {
    absl::StrAppend(&text, "::warning title=Not enough evidence::", Message(report.evidence_note), "\n");
  }
  for (const std::string& line : report.warnings)
    absl::StrAppend(&text, "::notice title=vramtrack::", Message(line), "\n");
  // An ordinary line of the log. A message cannot begin a command: it follows a word.
  return absl::StrCat(text, "vramtrack check ", CheckTotals(report), "\n");
}

std::string RenderCheckJunit(const CheckReport& report) {
  std::string cases;
  size_t failures = 0, skipped = 0;
  for (const CheckedRule& checked : report.rules) {
    const CheckRule* rule = FindRule(checked.rule);
    absl::StrAppend(&cases, "    <testcase name=\"", Xml(checked.rule),
                    "\" classname=\"vramtrack.check\" time=\"0\">\n");
    if (checked.result == CheckedRule::Result::kFailed) {
      ++failures;
      const std::vector<std::string> lines = Lines(report, checked.rule, CheckFinding::Status::kFailed);
      std::string message = lines.empty() ? "" : lines[0];
      if (lines.size() > 1) absl::StrAppend(&message, " (and ", lines.size() - 1, " more)");
      absl::StrAppend(&cases, "      <failure message=\"", Xml(message), "\" type=\"",
                      Xml(rule == nullptr ? checked.rule : rule->title), "\">", XmlLines(lines), "</failure>\n");
    } else if (checked.result == CheckedRule::Result::kNotJudged) {
      ++skipped;
      absl::StrAppend(&cases, "      <skipped message=\"", Xml(checked.note), "\"/>\n");
    }
    const std::string others = XmlLines(Lines(report, checked.rule, CheckFinding::Status::kWarning)) +
                               XmlLines(Lines(report, checked.rule, CheckFinding::Status::kExcepted));
    if (!others.empty()) absl::StrAppend(&cases, "      <system-out>", others, "</system-out>\n");
    absl::StrAppend(&cases, "    </testcase>\n");
  }
  const std::string counts =
      absl::StrCat("tests=\"", report.rules.size(), "\" failures=\"", failures, "\" errors=\"0\"");
  const std::string notes = XmlLines(report.warnings);
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vramtrack check\" ", counts,
                      " time=\"0\">\n  <testsuite name=\"", Xml(report.trace.empty() ? "trace" : report.trace), "\" ",
                      counts, " skipped=\"", skipped, "\" time=\"0\">\n", cases,
                      notes.empty() ? "" : absl::StrCat("    <system-out>", notes, "</system-out>\n"),
                      "  </testsuite>\n</testsuites>\n");
}

std::string RenderCheckJson(const CheckReport& report) {
  Json json;
  json["schema_version"] = kCheckSchemaVersion;
  json["tool_version"] = report.tool_version;
  json["trace"] = report.trace;
  json["baseline"] = report.baseline.empty() ? Json(nullptr) : Json(report.baseline);
  const int code = ExitCodeOf(report);
  json["result"] = code == 0 ? "passed" : code == 1 ? "failed" : "not_enough_evidence";
  json["exit_code"] = code;
  json["evidence_note"] = report.evidence_note;
  json["steps"] = report.steps;
  json["sites"] = report.sites;
  json["devices"] = report.devices;
  json["failed"] = report.failed;
  json["warned"] = report.warned;
  json["excepted"] = report.excepted;
  json["rules"] = Json::array();
  constexpr const char* kResults[] = {"passed", "failed", "not_judged"};
  for (const CheckedRule& rule : report.rules) {
    json["rules"].push_back({{"rule", rule.rule},
                             {"result", kResults[static_cast<size_t>(rule.result)]},
                             {"checked", rule.checked},
                             {"note", rule.note}});
  }
  json["findings"] = Json::array();
  for (const CheckFinding& finding : report.findings) json["findings"].push_back(FindingJson(finding));
  json["warnings"] = report.warnings;
  return Dump(json);
}

std::string RenderCheckGitlab(const CheckReport& report) {
  Json list = Json::array();
  for (const CheckFinding& finding : report.findings) {
    // There is no way to say that something is known: what is listed counts as worse.
    if (finding.status == CheckFinding::Status::kExcepted) continue;
    Json one;
    one["description"] = CheckSentence(finding);
    one["check_name"] = finding.rule;
    // The same in every run, so that what was there before is not taken for new.
    one["fingerprint"] = finding.rule + "|" + Printable(finding.key);
    one["severity"] = finding.status == CheckFinding::Status::kFailed ? "major" : "minor";
    // A place is asked for; what is about a device has none but the run.
    const std::string& place = finding.file.empty() ? report.trace : finding.file;
    one["location"]["path"] = place.empty() ? "trace" : Printable(place);
    one["location"]["lines"]["begin"] = finding.file.empty() || finding.line == 0 ? 1 : finding.line;
    list.push_back(std::move(one));
  }
  return Dump(list);
}

std::string RenderCheckSarif(const CheckReport& report) {
  Json driver;
  driver["name"] = "vramtrack";
  driver["version"] = report.tool_version;
  driver["rules"] = Json::array();
  for (const CheckRule& rule : kCheckRules) {
    driver["rules"].push_back({{"id", rule.id},
                               {"shortDescription", {{"text", rule.title}}},
                               {"fullDescription", {{"text", rule.text}}},
                               {"defaultConfiguration", {{"level", "error"}}}});
  }
  Json results = Json::array();
  for (const CheckFinding& finding : report.findings) {
    size_t index = 0;
    while (index + 1 < kCheckRules.size() && finding.rule != kCheckRules[index].id) ++index;
    results.push_back(ResultJson(finding, index));
  }
  Json invocation = {{"executionSuccessful", true}, {"exitCode", ExitCodeOf(report)}};
  Json notes = Json::array();
  if (!report.enough_evidence) {
    notes.push_back(
        {{"level", "warning"}, {"message", {{"text", "not enough evidence: " + Printable(report.evidence_note)}}}});
  }
  for (const std::string& line : report.warnings) {
    notes.push_back({{"level", "note"}, {"message", {{"text", Printable(line)}}}});
  }
  if (!notes.empty()) invocation["toolExecutionNotifications"] = std::move(notes);
  Json run;
  run["tool"]["driver"] = std::move(driver);
  run["invocations"] = Json::array({std::move(invocation)});
  run["columnKind"] = "utf16CodeUnits";
  run["results"] = std::move(results);
  Json json;
  json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] = Json::array({std::move(run)});
  return Dump(json);
}

}  // namespace vramtrack
