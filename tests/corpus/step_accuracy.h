// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CORPUS_STEP_ACCURACY_H_
#define TESTS_CORPUS_STEP_ACCURACY_H_

#include <cstdint>
#include <vector>

#include "analyzer/ingest/trace.h"

namespace vramtrack::corpus {

struct StepAccuracy {
  double f1 = 0;  // of steps, or of micro-steps where these were found
  int unit = 1;   // how many of what was found make a step
};

// How well the steps that the analyzer finds are those of the job. Where in a step it cuts is its own affair: a step
// counts as found if just one boundary lies within it, or as many as it has micro-steps.
StepAccuracy MeasureSteps(const Trace& trace, const std::vector<uint64_t>& true_ends, int micro_steps);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_STEP_ACCURACY_H_
