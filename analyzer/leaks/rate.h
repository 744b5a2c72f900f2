// SPDX-License-Identifier: Apache-2.0
//
// Estimates how much a site leaves behind per step, with a confidence interval.
#ifndef ANALYZER_LEAKS_RATE_H_
#define ANALYZER_LEAKS_RATE_H_

#include "analyzer/leaks/bootstrap.h"
#include "analyzer/leaks/onset.h"
#include "analyzer/leaks/period.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {

struct Rate {
  double bytes_per_step = 0;
  double objects_per_step = 0;
  Interval bytes_interval;  // 95 %; has width zero if the rate is known exactly
  Period period;            // of the survivors, if they repeat
};

// Returns the mean rate over `onset.span`. The begin and end of the span do not bias it:
// - Survivors that repeat with a period are averaged over whole periods, so every n-th step gives exactly 1/n.
// - Otherwise, if the onset was seen, the first step and its survivors are left out. It has survivors by construction,
//   and counting it would overstate a rare leak by one survivor.
// `max_lifetime_steps`: the distance over which steps may depend on each other. Computing the interval takes most of
// the time; without `with_interval`, `bytes_interval` is zero.
Rate EstimateRate(const SurvivorSeries& series, const Onset& onset, uint32_t max_lifetime_steps,
                  bool with_interval = true);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RATE_H_
