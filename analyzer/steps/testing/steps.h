// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run, wherever their boundaries come from.
#ifndef ANALYZER_STEPS_TESTING_STEPS_H_
#define ANALYZER_STEPS_TESTING_STEPS_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

enum class StepSource { kMarks, kNvtx, kOptimizer, kPeriodicity, kNone };

// The name in the report, e.g. "marks".
const char* ToString(StepSource source);

struct Steps {
  StepSource source = StepSource::kNone;
  double confidence = 0;  // 0 to 1
  // boundaries[i] is the first instant that no longer belongs to step i; ascending. Of the same clock as the events.
  std::vector<uint64_t> boundaries;
  std::vector<uint64_t> numbers;  // the job's own number of each step; empty: it gave none
  std::vector<double> values;     // what the job said of each step (its loss, its tokens); empty: nothing

  // Complete steps. What comes after the last boundary is step complete(), which was cut off.
  uint32_t complete() const { return static_cast<uint32_t>(boundaries.size()); }

  // The step of an event at `time`: 0 to complete().
  uint32_t StepOf(uint64_t time) const;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_TESTING_STEPS_H_
