// SPDX-License-Identifier: Apache-2.0
//
// The objects that the steps of a span left behind: the series that all leak tests use.
#ifndef ANALYZER_LEAKS_SURVIVORS_H_
#define ANALYZER_LEAKS_SURVIVORS_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// The survivors of one step.
struct Survivors {
  Step step = 0;
  uint32_t objects = 0;
  uint64_t bytes = 0;
};

// Survivors by step, ascending; only steps with survivors.
using SurvivorSeries = std::vector<Survivors>;

// Returns the survivors of `history` that were allocated in `span`.
SurvivorSeries SurvivorsIn(const SiteHistory& history, StepSpan span);

// Returns the part of `series` within `span`.
SurvivorSeries Within(const SurvivorSeries& series, StepSpan span);

struct SurvivorTotal {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t steps = 0;  // steps with survivors
};

SurvivorTotal TotalOf(const SurvivorSeries& series);

// Returns the totals of `windows` windows that cover `span`. Their lengths differ by at most one step.
std::vector<SurvivorTotal> WindowTotals(const SurvivorSeries& series, StepSpan span, uint32_t windows);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SURVIVORS_H_
