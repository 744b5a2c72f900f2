// SPDX-License-Identifier: Apache-2.0
//
// Spans of steps, and the warm-up of a run.
#ifndef ANALYZER_LEAKS_WINDOWS_H_
#define ANALYZER_LEAKS_WINDOWS_H_

#include <algorithm>

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// Steps in [begin, end).
struct StepSpan {
  Step begin = 0, end = 0;
  Step size() const { return end > begin ? end - begin : 0; }
};

// Returns the first step after warm-up. Warm-up is a tenth of the run and at least five steps: lazy optimizer state,
// bucket rebuilds, library workspaces and autotuning are finished by then. It lasts longer if the steps change their
// structure later. `structure_settled`: the first step from which on the steps allocate alike, 0 if unknown
// (step_similarity.h).
inline Step WarmupEnd(Step steps, Step structure_settled = 0) {
  constexpr Step kMinWarmup = 5;
  return std::max({kMinWarmup, steps / 10 + (steps % 10 != 0 ? 1 : 0), structure_settled});
}

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_WINDOWS_H_
