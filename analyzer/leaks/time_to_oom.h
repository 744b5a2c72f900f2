// SPDX-License-Identifier: Apache-2.0
//
// When a device that fills up is full.
#ifndef ANALYZER_LEAKS_TIME_TO_OOM_H_
#define ANALYZER_LEAKS_TIME_TO_OOM_H_

#include <cstddef>
#include <optional>

#include "analyzer/leaks/growth.h"

namespace vramtrack {

// In steps that still complete; the one after them fails.
struct StepsToOom {
  double steps = 0;          // the median
  double low = 0, high = 0;  // 95 %
};

// How long a level that grows by `growth`, fitted to `series` from point `begin` on, stays within `limit_bytes`.
//
// A step fails by its highest level, and a few steps need more than others (long batches, evaluations): what each step
// so far needed above the growing level is taken for a sample of what the next ones will need, and the job ends with
// the first that does not fit. The interval adds up how sure the growth is, which of the coming steps that will be,
// how far the level may wander until then, and, where it rises in stairs, how long one lasts.
//
// 0 if an ordinary step does not fit any more. None: the growth is not surely above zero.
std::optional<StepsToOom> PredictStepsToOom(const FittedGrowth& growth, const LevelSeries& series, size_t begin,
                                            double limit_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_TIME_TO_OOM_H_
