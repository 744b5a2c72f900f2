// SPDX-License-Identifier: Apache-2.0
//
// Estimates how much a site leaves behind per step: from when on, whether it repeats, and whether it will matter before
// the run ends.
#ifndef ANALYZER_LEAKS_RATE_H_
#define ANALYZER_LEAKS_RATE_H_

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/statistics.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// Detects survivors that repeat exactly: in every step, in every n-th step, or in any fixed pattern. Their rate is then
// known and need not be estimated.
struct Period {
  Step steps = 0;             // length; 0: no period
  bool bytes_repeat = false;  // the bytes repeat as well as the objects
};

// Returns the shortest period in which the objects of `series` repeat throughout `span`, or a multiple of it in which
// the bytes repeat too. At least three repetitions must fit.
Period FindPeriod(const SurvivorSeries& series, StepSpan span);

struct Rate {
  double bytes_per_step = 0;
  double objects_per_step = 0;
  Interval bytes_interval;  // 95 %; has width zero if the rate is known exactly
  Period period;            // of the survivors, if they repeat
};

// Returns the mean rate over `span`, in which a site leaves survivors. The begin and end of the span do not bias it:
// - Survivors that repeat with a period are averaged over whole periods, so every n-th step gives exactly 1/n.
// - Otherwise, if the onset was seen (it is in the tested steps, not before), the first step and its survivors are left
//   out. It has survivors by construction, and counting it would overstate a rare leak by one survivor.
// `max_lifetime_steps`: the distance over which steps may depend on each other.
Rate EstimateRate(const SurvivorSeries& series, StepSpan span, bool onset_seen, uint32_t max_lifetime_steps);

// Returns whether a leak adds up to at least 1 MiB over the planned length of the run, or to a ten-thousandth of the
// device if that is more. `device_bytes`: 0 for host memory. A smaller leak is real but minor. Objects without bytes
// (events, streams) matter from a thousand on.
bool IsMaterial(const Rate& rate, uint64_t horizon_steps, uint64_t device_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RATE_H_
