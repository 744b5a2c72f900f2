// SPDX-License-Identifier: Apache-2.0
//
// Detects whether sites leave objects behind in the same steps, as the sites of one leak do.
#ifndef ANALYZER_LEAKS_PATTERN_H_
#define ANALYZER_LEAKS_PATTERN_H_

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// Returns whether both series have survivors in the same steps of `span`, in at least four steps and with exceptions in
// at most one step of twenty. If survivors are rare, one series may be one step later throughout, because steps that
// are inferred from allocations may begin in the middle of a real one.
bool SameSteps(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Returns whether both also leave the same number of objects and bytes in each of these steps.
bool SameAmounts(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Returns the sum of both series.
SurvivorSeries SumOf(const SurvivorSeries& a, const SurvivorSeries& b);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_PATTERN_H_
