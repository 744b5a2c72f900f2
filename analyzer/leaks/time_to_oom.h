// SPDX-License-Identifier: Apache-2.0
//
// Predicts when a device that fills up will be full.
#ifndef ANALYZER_LEAKS_TIME_TO_OOM_H_
#define ANALYZER_LEAKS_TIME_TO_OOM_H_

#include <cstddef>
#include <optional>

#include "analyzer/leaks/growth.h"

namespace vramtrack {

// A number of steps that will complete; the step after them fails.
struct StepsToOom {
  double steps = 0;          // the median
  double low = 0, high = 0;  // 95 %
};

// Predicts how long a level stays within `limit_bytes`. `growth` is its growth, fitted to `series` from point `begin`
// on.
//
// A step fails at its highest level, and some steps need more than others (long batches, evaluations). What each step
// so far needed above the growing level is used as a sample of what the next ones will need. The job ends with the
// first step that does not fit. The interval combines the uncertainty of the growth, of which future step that will be,
// of the level's random walk until then and, if the level rises in jumps, of the time to the next jump.
//
// Returns 0 steps if an ordinary step no longer fits. Returns none if the growth is not significantly above zero.
std::optional<StepsToOom> PredictStepsToOom(const FittedGrowth& growth, const LevelSeries& series, size_t begin,
                                            double limit_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_TIME_TO_OOM_H_
