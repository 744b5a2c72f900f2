// SPDX-License-Identifier: Apache-2.0
//
// When a site began to leave objects behind.
#ifndef ANALYZER_LEAKS_ONSET_H_
#define ANALYZER_LEAKS_ONSET_H_

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// The part of `tested` in which the site leaves survivors. It begins with `tested` unless there is a step before which
// survivors are at most a tenth as frequent as after it; then with that step. Found by the binary segmentation of a
// Poisson process: the split of greatest likelihood, if the likelihood speaks clearly for a split.
struct Onset {
  StepSpan span;
  bool within_tested = false;  // the onset was seen; otherwise it lies in warm-up or before
};
Onset FindOnset(const SurvivorSeries& series, StepSpan tested);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_ONSET_H_
