// SPDX-License-Identifier: Apache-2.0
//
// Finds the step at which a site began to leave objects behind.
#ifndef ANALYZER_LEAKS_ONSET_H_
#define ANALYZER_LEAKS_ONSET_H_

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// The part of the tested steps in which a site leaves survivors. It begins at the first tested step, or at a later step
// before which survivors are at most a tenth as frequent as after it. That step is found by binary segmentation of a
// Poisson process: it is the split with the greatest likelihood, if the likelihood clearly favours a split.
struct Onset {
  StepSpan span;
  bool within_tested = false;  // the onset was seen; otherwise it is in warm-up or before
};
Onset FindOnset(const SurvivorSeries& series, StepSpan tested);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_ONSET_H_
