// SPDX-License-Identifier: Apache-2.0
//
// Whether sites leave objects behind in the same steps: what one leak keeps comes and goes together.
#ifndef ANALYZER_LEAKS_PATTERN_H_
#define ANALYZER_LEAKS_PATTERN_H_

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// Whether both have survivors in the same steps of `span`, but for one step in twenty, and four steps at least. What
// is inferred from allocations may cut a step in the middle, so that one of them may be a step behind the other
// throughout.
bool SameSteps(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Whether they also leave the same number of objects and bytes in each of these steps.
bool SameAmounts(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Both together.
SurvivorSeries SumOf(const SurvivorSeries& a, const SurvivorSeries& b);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_PATTERN_H_
