// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/model/check_report.h"
#include "analyzer/render/check/check_output.h"

namespace vramtrack {
namespace {

// As @actions/core escapes them.
std::string Message(const std::string& text) {
  return absl::StrReplaceAll(Printable(text), {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}
std::string Property(const std::string& text) {
  return absl::StrReplaceAll(Message(text), {{":", "%3A"}, {",", "%2C"}});
}

}  // namespace

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

std::string RenderCheckGitlab(const CheckReport& report) {
  using Json = nlohmann::ordered_json;
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
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// Printable() leaves no character that XML 1.0 cannot hold.
std::string Xml(const std::string& text) {
  return absl::StrReplaceAll(Printable(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&apos;"}});
}

std::string Line(const CheckFinding& finding) {
  std::string place = finding.file;
  if (!place.empty() && finding.line > 0) absl::StrAppend(&place, ":", finding.line);
  return absl::StrCat(place, place.empty() ? "" : ": ", CheckSentence(finding));
}

// The findings of one rule with this status; `line_end` follows each.
std::string Lines(const CheckReport& report, const std::string& rule, CheckFinding::Status status) {
  std::string text;
  for (const CheckFinding& finding : report.findings) {
    if (finding.rule == rule && finding.status == status) absl::StrAppend(&text, Xml(Line(finding)), "\n");
  }
  return text;
}

std::string FirstMessage(const CheckReport& report, const std::string& rule, size_t* count) {
  std::string first;
  for (const CheckFinding& finding : report.findings) {
    if (finding.rule != rule || finding.status != CheckFinding::Status::kFailed) continue;
    if ((*count)++ == 0) first = Line(finding);
  }
  return first;
}

}  // namespace

std::string RenderCheckJunit(const CheckReport& report) {
  std::string cases;
  size_t failures = 0, skipped = 0;
  for (const CheckedRule& checked : report.rules) {
    const CheckRule* rule = FindRule(checked.rule);
    absl::StrAppend(&cases, "    <testcase name=\"", Xml(checked.rule),
                    "\" classname=\"vramtrack.check\" time=\"0\">\n");
    if (checked.result == CheckedRule::Result::kFailed) {
      ++failures;
      size_t count = 0;
      std::string message = FirstMessage(report, checked.rule, &count);
      if (count > 1) absl::StrAppend(&message, " (and ", count - 1, " more)");
      absl::StrAppend(&cases, "      <failure message=\"", Xml(message), "\" type=\"",
                      Xml(rule == nullptr ? checked.rule : rule->title), "\">",
                      Lines(report, checked.rule, CheckFinding::Status::kFailed), "</failure>\n");
    } else if (checked.result == CheckedRule::Result::kNotJudged) {
      ++skipped;
      absl::StrAppend(&cases, "      <skipped message=\"", Xml(checked.note), "\"/>\n");
    }
    const std::string others = Lines(report, checked.rule, CheckFinding::Status::kWarning) +
                               Lines(report, checked.rule, CheckFinding::Status::kExcepted);
    if (!others.empty()) absl::StrAppend(&cases, "      <system-out>", others, "</system-out>\n");
    absl::StrAppend(&cases, "    </testcase>\n");
  }
  const std::string counts =
      absl::StrCat("tests=\"", report.rules.size(), "\" failures=\"", failures, "\" errors=\"0\"");
  std::string notes;
  for (const std::string& line : report.warnings) absl::StrAppend(&notes, Xml(line), "\n");
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vramtrack check\" ", counts,
                      " time=\"0\">\n  <testsuite name=\"", Xml(report.trace.empty() ? "trace" : report.trace), "\" ",
                      counts, " skipped=\"", skipped, "\" time=\"0\">\n", cases,
                      notes.empty() ? "" : absl::StrCat("    <system-out>", notes, "</system-out>\n"),
                      "  </testsuite>\n</testsuites>\n");
}

}  // namespace vramtrack
