// SPDX-License-Identifier: Apache-2.0
//
// The objects that the steps of a span left behind: the series that all leak tests use, and whether those of
// two sites are alike, as of sites of one leak.
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

// Returns whether both series have survivors in the same steps of `span`, in at least four steps and with exceptions in
// at most one step of twenty. If survivors are rare, one series may be one step later throughout, because steps that
// are inferred from allocations may begin in the middle of a real one.
bool SameSteps(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Returns whether both also leave the same number of objects and bytes in each of these steps.
bool SameAmounts(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Returns the sum of both series.
SurvivorSeries SumOf(const SurvivorSeries& a, const SurvivorSeries& b);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SURVIVORS_H_
