// SPDX-License-Identifier: Apache-2.0
//
// How fast a whole device fills up, whoever is to blame.
#ifndef ANALYZER_LEAKS_GROWTH_H_
#define ANALYZER_LEAKS_GROWTH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

struct Growth {
  double bytes_per_step = 0;
  double ci_low = 0, ci_high = 0;  // 95 %
};

// The slope of `floors` after warm-up: the lowest number of live bytes within each complete step, one entry a step from
// step 0 on. Floors leave out what a step needs and gives back, so that longer batches do not look like growth.
//
// The slope is Theil and Sen's, the median of the slopes between all pairs of steps: up to 29 % of the steps may be
// anything (an evaluation, a checkpoint). The interval is that of the Mann-Kendall statistic with its correction for
// ties. Of more than 500 steps, 500 that are equally far apart are taken.
//
// None: the device does not grow (the interval reaches down to zero), or there are fewer than kMinGrowthSteps steps.
std::optional<Growth> EstimateGrowth(const std::vector<uint64_t>& floors, Step warmup_end);

// The slope has an interval of 95 % from nine pairs of steps on; with ten floors it is not wider than the slope.
constexpr Step kMinGrowthSteps = 10;

struct StepsToOom {
  double steps = 0;
  double low = 0, high = 0;  // from the interval of the growth
};

// How many more steps until `level_bytes`, the highest level of an ordinary step at the end, reaches `limit_bytes`. 0
// if it has. None: the limit is unknown (0).
std::optional<StepsToOom> EstimateStepsToOom(const Growth& growth, uint64_t level_bytes, uint64_t limit_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_GROWTH_H_
