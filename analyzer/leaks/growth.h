// SPDX-License-Identifier: Apache-2.0
//
// Estimates how fast a whole device fills up, whichever sites cause it, and when it will be full.
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

// Returns the slope of `floors` after warm-up, in bytes per step. `floors`: the lowest number of live bytes within each
// complete step, from step 0 on. Floors do not include what a step frees again, so that longer batches do not look like
// growth.
//
// The slope is the Theil-Sen estimate, the median of the slopes between all pairs of steps: up to 29 % of the steps may
// be outliers (an evaluation, a checkpoint). The interval is that of the Mann-Kendall statistic with its correction for
// ties. If there are more than 500 steps, 500 evenly spaced ones are used.
//
// Returns none if the device does not grow (the interval includes zero) or if there are fewer than kMinGrowthSteps
// steps.
std::optional<Growth> EstimateGrowth(const std::vector<uint64_t>& floors, Step warmup_end);

// A 95 % interval of the slope exists from nine pairs of steps on; with ten floors it is not wider than the slope.
constexpr Step kMinGrowthSteps = 10;

// The lowest and the highest value of one figure of a device, in successive spans of `steps_per_point` steps from step
// 0 on.
struct LevelSeries {
  std::vector<double> low, high;  // bytes; equally long
  double steps_per_point = 1;
};

// Returns the series of one point a step. Both must be equally long.
LevelSeries SeriesOf(const std::vector<uint64_t>& low, const std::vector<uint64_t>& high);

struct FittedGrowth : Growth {
  // The variance, in bytes squared, that each step adds to the level. It is 0 if steps add equal amounts or repeat a
  // pattern, and positive if the amounts are random.
  double wander_per_step = 0;
  size_t rises = 0;  // how often the lowest level went up from one point to the next
  // It is much longer ago that the lowest level went up than it ever took it before: a window or a cache that is full.
  bool stopped = false;
  // The usual height of a jump, in steps of growth. A level that rises in jumps (segments, pages, an object every tenth
  // step) is full when the next jump does not fit. Half of the total rise was in jumps at least this high.
  double rise_steps = 0;
};

// Returns the slope of the lowest levels from point `begin` on, of either sign. Like EstimateGrowth, but it uses at
// most 300 points, and its interval is wider if the level is a random walk: the interval of EstimateGrowth assumes a
// line with noise and would be far too narrow for a sum of random steps. A random walk is distinguished from noise by
// how much more levels differ an eighth of the run apart than between neighbours. Returns none for fewer than
// kMinGrowthSteps points.
std::optional<FittedGrowth> FitGrowth(const LevelSeries& series, size_t begin);

// Returns `values` without spikes of one or two points. Each value is replaced by the median of itself and two
// neighbours on either side, or fewer at the ends.
std::vector<double> WithoutSpikes(const std::vector<double>& values);

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
// first step that does not fit. The interval covers what is uncertain: the growth, the step that will be the first not
// to fit, the level's random walk until then, and, if the level rises in jumps, the time to the next jump.
//
// Returns 0 steps if an ordinary step no longer fits. Returns none if the growth is not significantly above zero.
std::optional<StepsToOom> PredictStepsToOom(const FittedGrowth& growth, const LevelSeries& series, size_t begin,
                                            double limit_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_GROWTH_H_
