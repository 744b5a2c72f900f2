// SPDX-License-Identifier: Apache-2.0
//
// How fast a whole device fills up, whoever is to blame.
#ifndef ANALYZER_LEAKS_GROWTH_H_
#define ANALYZER_LEAKS_GROWTH_H_

#include <cstddef>
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

// What one figure of a device was at its lowest and at its highest in each of successive spans of `steps_per_point`
// steps, from step 0 on.
struct LevelSeries {
  std::vector<double> low, high;  // bytes; equally long
  double steps_per_point = 1;
};

struct FittedGrowth : Growth {
  // Variance, in bytes squared, that each step adds to the level on its way: 0 where steps add the same, or where they
  // add it in turns; more where chance decides what a step leaves behind.
  double wander_per_step = 0;
  size_t rises = 0;  // how often the lowest level went up from one point to the next
  // A level that rises in stairs (segments, pages, an object each tenth step) is full when the next one does not fit:
  // how many steps of growth the usual stair is. Half of what the level rose by it did in stairs at least as high.
  double stair_steps = 0;
};

// The slope of the lowest levels from point `begin` on, whatever it is. As EstimateGrowth, but of 300 points at most,
// and with an interval that is wider where the level wanders: the interval above is that of a line with noise around it
// and would be far too narrow for a sum of random steps. What it wanders by is told from noise by how much more levels
// differ that are an eighth of the run apart than neighbours do. None: fewer than kMinGrowthSteps points.
std::optional<FittedGrowth> FitGrowth(const LevelSeries& series, size_t begin);

// `values` without spikes of one or two points: each is the median of itself and two neighbours on either side, of
// fewer at the ends.
std::vector<double> WithoutSpikes(const std::vector<double>& values);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_GROWTH_H_
