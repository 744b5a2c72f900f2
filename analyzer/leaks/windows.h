// SPDX-License-Identifier: Apache-2.0
//
// Selects the steps of a run by which a site is judged. It leaves out warm-up, and steps so recent that an object
// allocated in them would still be live in any case.
#ifndef ANALYZER_LEAKS_WINDOWS_H_
#define ANALYZER_LEAKS_WINDOWS_H_

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// Steps in [begin, end).
struct StepSpan {
  Step begin = 0, end = 0;
  Step size() const { return end > begin ? end - begin : 0; }
};

// The tested span is divided into this many windows of equal length. With eight, a trend shows as a difference between
// halves of four, and one window without survivors can be distinguished from a leak that has stopped.
constexpr uint32_t kWindows = 8;

// The fewest steps that can be tested: two for each window. With one, a site that leaves something in every other step
// would always have empty windows. With more, a run that was killed after 30 steps could not be judged.
constexpr Step kMinTestedSteps = 2 * kWindows;

// Returns the first step after warm-up. Warm-up is a tenth of the run and at least five steps: lazy optimizer state,
// bucket rebuilds, library workspaces and autotuning are finished by then. It lasts longer if the steps change their
// structure later. `structure_settled`: the first step from which on the steps allocate alike, 0 if unknown
// (step_similarity.h).
Step WarmupEnd(Step steps, Step structure_settled = 0);

// Returns how many of the last steps are left out. If freed objects of the site lived up to this long, a younger live
// object is not evidence of a leak. A quarter is added, because the longest lifetime seen is not the longest possible.
// The result is at least two steps, because what step t passes to step t + 1 is live when step t ends.
Step CensorMargin(uint32_t max_completed_lifetime_steps);

// Returns the steps by which a site is judged; may be empty.
StepSpan TestedSpan(const RunShape& run, uint32_t max_completed_lifetime_steps);

// Returns how many more steps the run needs for a tested span of kMinTestedSteps; 0 if it has enough.
Step FurtherStepsNeeded(const RunShape& run, uint32_t max_completed_lifetime_steps);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_WINDOWS_H_
