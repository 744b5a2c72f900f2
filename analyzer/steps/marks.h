// SPDX-License-Identifier: Apache-2.0
//
// Steps from the marks that a job sets itself.
#ifndef ANALYZER_STEPS_MARKS_H_
#define ANALYZER_STEPS_MARKS_H_

#include <cstdint>
#include <vector>

#include "analyzer/steps/steps.h"

namespace vramtrack {

// One call of vramtrack_step().
struct StepMark {
  uint64_t time = 0;  // of the events' clock
  uint64_t thread = 0;
  uint64_t number = 0;
  double value = 0;
};

// A mark ends a step: what comes before the first mark is step 0, what comes after the last one is incomplete. Numbers
// are kept as they are and otherwise ignored: jobs repeat them, skip some or start again after a checkpoint. Where
// several threads mark (the ranks of a threaded job, each saying the same), those of the thread with the most marks
// count; of equals, of the one that marked first. `marks` in any order.
Steps StepsFromMarks(std::vector<StepMark> marks, StepSource source = StepSource::kMarks);

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_MARKS_H_
