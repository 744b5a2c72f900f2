// SPDX-License-Identifier: Apache-2.0
//
// Which steps of a run a site is judged by: not those of warm-up, and not those so recent that an object born in them
// would be alive in any case.
#ifndef ANALYZER_LEAKS_WINDOWS_H_
#define ANALYZER_LEAKS_WINDOWS_H_

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// Steps in [begin, end).
struct StepSpan {
  Step begin = 0, end = 0;
  Step size() const { return end > begin ? end - begin : 0; }
};

// The tested span is cut into this many windows of equal length. With eight, a trend shows as a difference between
// halves of four, and one window without survivors is told from a leak that has stopped.
constexpr uint32_t kWindows = 8;

// Two steps for each window. With one, a site that leaves something in every other step would have empty windows by
// construction; with more, a run killed after 30 steps could not be judged.
constexpr Step kMinTestedSteps = 2 * kWindows;

// The first step after warm-up: a tenth of the run, five steps at least (lazy optimizer state, bucket rebuilds, library
// workspaces and autotuning are all done by then), or the run's last change of structure, whichever is later.
// `structure_settled`: the first step from which on the steps allocate alike, 0 if not known (step_similarity.h).
Step WarmupEnd(Step steps, Step structure_settled = 0);

// How many of the last steps are left out: an object of a site whose freed objects lived at most this long says nothing
// by being alive. A quarter is added, as the longest lifetime seen is not the longest possible, and never less than two
// steps: what step t leaves to step t + 1 is alive when step t ends.
Step CensorMargin(uint32_t max_completed_lifetime_steps);

// The steps that a site is judged by; may be empty.
StepSpan TestedSpan(const RunShape& run, uint32_t max_completed_lifetime_steps);

// How many more steps the run would need for a tested span of kMinTestedSteps; 0 if it has enough.
Step FurtherStepsNeeded(const RunShape& run, uint32_t max_completed_lifetime_steps);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_WINDOWS_H_
