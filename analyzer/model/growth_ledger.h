// SPDX-License-Identifier: Apache-2.0
//
// Who grew: the growth of a ledger by lines of code, which adds up; and why an answer is not sure.
#ifndef ANALYZER_MODEL_GROWTH_LEDGER_H_
#define ANALYZER_MODEL_GROWTH_LEDGER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

struct ReportGrowthLine {
  std::string line, function;
  LineUnit unit = LineUnit::kLine;
  int64_t grown = 0;
  double per_step = 0, ci_low = 0, ci_high = 0;
  Verdict verdict = Verdict::kSteady;
  std::optional<double> odds;
  std::string reason, why;
  std::string holder;
  std::vector<ReportSiteIndex> sites;
  bool not_slowing = false;
};

template <>
inline constexpr const char* kAbout<ReportGrowthLine> = "What one line of code holds more than before";
template <class Visitor>
void Fields(Visitor& visit, ReportGrowthLine& line) {
  visit(1, "line", line.line, "file and line; library and offset where the line is unknown");
  visit(2, "function", line.function, "empty if unknown");
  visit(3, "unit", line.unit,
        "what surely grows: the `line`, or the `function`, `file` or `module` that it has the largest part of");
  visit(4, "bytes", line.grown, "what it holds more at the last quiet moment than at the first; handles by number");
  visit(5, "bytes_per_step", line.per_step, "the rate of a leak, or else the mean; handles by number");
  visit(6, "ci", field::Interval{line.ci_low, line.ci_high}, "95 % confidence interval");
  visit(8, "class", line.verdict, "see [leak verdicts](leak-verdicts.md)");
  visit(9, "odds", line.odds, "of a leak, to one; `null` if nothing was judged");
  visit(10, "reason", field::OrNull{line.reason},
        "id of what speaks against a leak, see [the list](leak-verdicts.md#facts); `null` if it is sure");
  visit(11, "why", line.why, "that reason as a sentence; empty without one");
  visit(12, "holder", field::OrNull{line.holder}, "the variable that keeps it, where a walk found one");
  visit(13, "sites", line.sites, "its sites among those of the report");
  visit(14, "not_slowing", line.not_slowing,
        "whether it grew in the second half of the run about as much as in the first; false if that is unknown");
}

struct ReportGrowthLedger {
  int64_t grown = 0;
  std::optional<int64_t> from_step, to_step;
  uint64_t from = 0, to = 0;
  uint64_t steps = 0;
  std::vector<ReportGrowthLine> lines;
  uint64_t other_lines = 0;
  int64_t other_grown = 0;
};

template <>
inline constexpr const char* kAbout<ReportGrowthLedger> =
    "The growth between two quiet moments, at which least is live: the sum of the growth of all lines";
template <class Visitor>
void Fields(Visitor& visit, ReportGrowthLedger& ledger) {
  visit(1, "bytes", ledger.grown, "handles by number, as in all of these");
  visit(2, "from_step", ledger.from_step, "step of the first moment, after warm-up; `null` without steps");
  visit(3, "to_step", ledger.to_step, "step of the last moment");
  visit(4, "from_bytes", ledger.from, "live at the first moment");
  visit(5, "to_bytes", ledger.to, "live at the last moment");
  visit(6, "steps", ledger.steps, "between the two");
  visit(7, "lines", ledger.lines, "by what they grew, most first; those that shrank last");
  visit(8, "other_lines", ledger.other_lines, "how many lines are not listed");
  visit(9, "other_bytes", ledger.other_grown, "what these grew by together");
}

struct ReportReason {
  std::string id, text;
};

template <>
inline constexpr const char* kAbout<ReportReason> = "Why a run without a known leak is not called clean";
template <class Visitor>
void Fields(Visitor& visit, ReportReason& reason) {
  visit(1, "id", reason.id, "see [the list](leak-verdicts.md#facts)");
  visit(2, "text", reason.text, "one sentence");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_GROWTH_LEDGER_H_
