// SPDX-License-Identifier: Apache-2.0
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

const char* Command(CheckFinding::Status status) {
  switch (status) {
    case CheckFinding::Status::kFailed:
      return "error";
    case CheckFinding::Status::kWarning:
      return "warning";
    case CheckFinding::Status::kExcepted:
      break;
  }
  return "notice";
}

}  // namespace

std::string RenderCheckGithub(const CheckReport& report) {
  std::string text;
  for (const CheckFinding& finding : report.findings) {
    absl::StrAppend(&text, "::", Command(finding.status), " ");
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

}  // namespace vramtrack
