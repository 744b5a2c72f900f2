// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run, from any source of boundaries.
#ifndef ANALYZER_STEPS_TESTING_STEPS_H_
#define ANALYZER_STEPS_TESTING_STEPS_H_

#include <cstdint>
#include <vector>

#include "analyzer/model/enums.h"

namespace vramtrack {

struct Steps {
  StepSource source = StepSource::kNone;
  double confidence = 0;  // 0 to 1
  // boundaries[i] is the first instant after step i, on the clock of the events; ascending.
  std::vector<uint64_t> boundaries;
  std::vector<uint64_t> numbers;  // the job's own number of each step; empty if it gave none
  std::vector<double> values;     // the value that the job gave each step (loss, tokens); empty if it gave none

  // Returns the number of complete steps. Events after the last boundary are in step complete(), which is incomplete.
  uint32_t complete() const { return static_cast<uint32_t>(boundaries.size()); }

  // Returns the step of an event at `time`, 0 to complete().
  uint32_t StepOf(uint64_t time) const;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_TESTING_STEPS_H_
