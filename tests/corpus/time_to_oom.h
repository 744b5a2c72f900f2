// SPDX-License-Identifier: Apache-2.0
//
// Whether the report of half a run foretells when the whole would have run out of memory.
#ifndef TESTS_CORPUS_TIME_TO_OOM_H_
#define TESTS_CORPUS_TIME_TO_OOM_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/corpus/score.h"

namespace vramtrack::corpus {

struct OomScore {
  double true_steps = 0;           // from the end of the trace on
  std::optional<double> foretold;  // steps
  double low = 0, high = 0;        // the interval
  bool covered = false;            // by the interval
  std::string refused;             // why nothing is foretold
  double error() const;            // relative; of what was foretold
};

// The run is emulated on, and the device is as large as what it takes after twice its steps: it is full in the first
// step that needs more. None if that does not happen within thrice its steps, or if the leak is
// small beside the device.
std::optional<OomScore> ScoreTimeToOom(const RunSpec& spec);

// The cases that leak memory of the device, at each number of steps. Those that accelerate are among them: of these
// nothing should be foretold.
std::vector<RunSpec> OomRuns(const std::vector<int>& steps, int seeds);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_TIME_TO_OOM_H_
