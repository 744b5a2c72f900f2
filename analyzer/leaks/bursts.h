// SPDX-License-Identifier: Apache-2.0
//
// Detects whether many objects of a site are freed at a time: by a garbage collector that runs now and then, or at the
// end of a phase of the job.
#ifndef ANALYZER_LEAKS_BURSTS_H_
#define ANALYZER_LEAKS_BURSTS_H_

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

enum class DeathPattern {
  kNone,       // objects are freed one by one, or not at all
  kPhases,     // objects are freed at the end of phases of one length, or of phases followed by a pause
  kCollector,  // objects are freed now and then while new ones are allocated, as by a garbage collector
};

struct Bursts {
  DeathPattern pattern = DeathPattern::kNone;
  uint32_t count = 0;
  double mean_gap_steps = 0;
  double mean_objects = 0;
  double mean_bytes = 0;
};

// Finds bursts in the deaths of objects that outlived their step. A loop of the program has a fixed length or a pause
// after it. A collector is triggered by counts of objects that are unrelated to the job's steps, so its gaps vary by a
// step or more. A collector with exactly equal gaps cannot be distinguished from a phase and is called one.
Bursts FindBursts(const SiteHistory& history);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BURSTS_H_
