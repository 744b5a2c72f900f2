// SPDX-License-Identifier: Apache-2.0
//
// Detects survivors that repeat exactly: in every step, in every n-th step, or in any fixed pattern. Their rate is then
// known and need not be estimated.
#ifndef ANALYZER_LEAKS_PERIOD_H_
#define ANALYZER_LEAKS_PERIOD_H_

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

struct Period {
  Step steps = 0;             // length; 0: no period
  bool bytes_repeat = false;  // the bytes repeat as well as the objects
};

// Returns the shortest period in which the objects of `series` repeat throughout `span`, or a multiple of it in which
// the bytes repeat too. At least three repetitions must fit.
Period FindPeriod(const SurvivorSeries& series, StepSpan span);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_PERIOD_H_
