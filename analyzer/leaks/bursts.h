// SPDX-License-Identifier: Apache-2.0
//
// Whether a site's objects die many at a time: a collector that runs now and then, or a phase of the job that ends.
#ifndef ANALYZER_LEAKS_BURSTS_H_
#define ANALYZER_LEAKS_BURSTS_H_

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

enum class DeathPattern {
  kNone,       // objects die one by one, or not at all
  kPhases,     // at the end of phases of one length, or of phases with a pause after them
  kCollector,  // now and then, while births go on: a garbage collector's doing
};

struct Bursts {
  DeathPattern pattern = DeathPattern::kNone;
  uint32_t count = 0;
  double mean_gap_steps = 0;
  double mean_objects = 0;
  double mean_bytes = 0;
};

// From the deaths of objects that outlived their step. A loop of the program has a fixed length or a pause after it; a
// collector is triggered by counts of objects that have nothing to do with the job's steps, so its gaps vary by a step
// or more. Where a collector happens to keep step exactly, the two cannot be told apart and it is called a phase.
Bursts FindBursts(const SiteHistory& history);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BURSTS_H_
