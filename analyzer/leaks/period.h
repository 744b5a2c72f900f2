// SPDX-License-Identifier: Apache-2.0
//
// Whether survivors repeat exactly: every step, every n-th step, or in any fixed pattern. Then the rate is known, not
// estimated.
#ifndef ANALYZER_LEAKS_PERIOD_H_
#define ANALYZER_LEAKS_PERIOD_H_

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

struct Period {
  Step steps = 0;             // 0: no period
  bool bytes_repeat = false;  // bytes as well as objects
};

// The shortest period in which the objects of `series` repeat throughout `span`; at least three repetitions fit.
Period FindPeriod(const SurvivorSeries& series, StepSpan span);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_PERIOD_H_
