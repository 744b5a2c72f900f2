// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/check/check_output.h"

namespace vramtrack {
namespace {

constexpr int kStatusColumns = 10, kRuleColumns = 15;

std::string Place(const CheckFinding& finding) {
  if (finding.file.empty()) return "";
  return absl::StrCat(Printable(finding.file), finding.line == 0 ? "" : absl::StrCat(":", finding.line), "  ");
}

}  // namespace

const StatusWords& WordsOf(CheckFinding::Status status) {
  static constexpr StatusWords kWords[] = {{"FAIL", "failed", "error", "error"},
                                           {"warning", "warning", "warning", "warning"},
                                           {"excepted", "excepted", "notice", "note"}};
  return kWords[static_cast<size_t>(status)];
}

std::string CheckSentence(const CheckFinding& finding) {
  std::string text = absl::StrCat(finding.subject, finding.site.empty() ? ": " : " ", finding.message);
  if (finding.status == CheckFinding::Status::kExcepted) {
    absl::StrAppend(&text, "; excepted ", finding.expires == "never" ? "for good" : "until " + finding.expires, ": ",
                    finding.reason);
  }
  return Printable(text);
}

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

std::string RenderCheckText(const CheckReport& report) {
  std::string text;
  for (const CheckFinding& finding : report.findings) {
    absl::StrAppend(&text, PadRight(WordsOf(finding.status).text, kStatusColumns), PadRight(finding.rule, kRuleColumns),
                    finding.rule.size() < kRuleColumns ? "" : "  ", Place(finding), CheckSentence(finding));
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

}  // namespace vramtrack
