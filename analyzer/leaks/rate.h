// SPDX-License-Identifier: Apache-2.0
//
// How much a site leaves behind per step, and how sure that is.
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
  Interval bytes_interval;  // 95 %; of width zero for a rate that is known exactly
  Period period;            // of the survivors, if they repeat
};

// The mean over `onset.span`, chosen so that it is not biased by where the span happens to begin and end:
// - survivors that repeat with a period are averaged over whole periods, so every n-th step gives exactly 1/n;
// - after an onset that was seen, the first step with survivors is left out, together with itself as a step: it is in
// the
//   span by construction, and counting it would overstate a rare leak by one survivor.
// `max_lifetime_steps`: how far steps may depend on each other. The interval is what takes time: without it
// `bytes_interval` is zero.
Rate EstimateRate(const SurvivorSeries& series, const Onset& onset, uint32_t max_lifetime_steps,
                  bool with_interval = true);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RATE_H_
