// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run, and its warm-up. Steps are dense indices of the run, not the job's own numbers. Events before the
// first boundary belong to step 0. Events after the last one belong to step RunShape::steps, which is not complete.
#ifndef ANALYZER_LEAKS_WINDOWS_H_
#define ANALYZER_LEAKS_WINDOWS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vramtrack {

using Step = uint32_t;

// Steps in [begin, end).
struct StepSpan {
  Step begin = 0, end = 0;
  Step size() const { return end > begin ? end - begin : 0; }
};

struct RunShape {
  Step steps = 0;                      // complete steps
  Step warmup_end = 0;                 // the first step after warm-up
  bool windows = false;                // its steps are windows of equally many allocated bytes
  std::vector<uint64_t> step_numbers;  // the job's own number of each step; empty: the index is the number

  uint64_t NumberOf(Step step) const { return step < step_numbers.size() ? step_numbers[step] : step; }
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
