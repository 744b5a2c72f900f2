// SPDX-License-Identifier: Apache-2.0
//
// What the steps of a span left behind: the series that all tests look at.
#ifndef ANALYZER_LEAKS_SURVIVORS_H_
#define ANALYZER_LEAKS_SURVIVORS_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// One step that left something behind.
struct Survivors {
  Step step = 0;
  uint32_t objects = 0;
  uint64_t bytes = 0;
};

// By step, ascending; only steps with survivors.
using SurvivorSeries = std::vector<Survivors>;

// Those of `history` born in `span`.
SurvivorSeries SurvivorsIn(const SiteHistory& history, StepSpan span);

// Those of `series` born in `span`.
SurvivorSeries Within(const SurvivorSeries& series, StepSpan span);

struct SurvivorTotal {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t steps = 0;  // steps with survivors
};

SurvivorTotal TotalOf(const SurvivorSeries& series);

// The totals of `windows` windows of equal length (to one step) that cover `span`.
std::vector<SurvivorTotal> WindowTotals(const SurvivorSeries& series, StepSpan span, uint32_t windows);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SURVIVORS_H_
