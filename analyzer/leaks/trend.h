// SPDX-License-Identifier: Apache-2.0
//
// Detects whether survivors appear more slowly or faster during the run.
#ifndef ANALYZER_LEAKS_TREND_H_
#define ANALYZER_LEAKS_TREND_H_

#include <vector>

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// Returns the statistic of Laplace's test: at a constant rate, survivors are born in the middle of the span on average.
// It is standard normal for a constant rate, negative if survivors become rarer, and 0 for an empty series. With
// `by_steps`, a step counts once for any number of objects, because objects of one step are rarely independent.
double LaplaceTrend(const SurvivorSeries& series, StepSpan span, bool by_steps);

// The late half of the windows divided by the early half, in bytes and in objects. With an odd number of windows, the
// middle one is in neither half. If the early half is empty, the ratio is a large number, not infinity. For handles,
// which have no bytes, both ratios are those of objects.
struct HalvesRatio {
  double bytes = 1, objects = 1;
};
HalvesRatio LateToEarly(const std::vector<SurvivorTotal>& windows);

// Returns the Mann-Kendall statistic of the windows' bytes. It is standard normal if they have no trend and positive if
// they grow.
double WindowTrend(const std::vector<SurvivorTotal>& windows);

// Returns how far births lean to the end of the span, in standard deviations of what the same steps in any order would
// do. Each step counts once, as its objects may have one cause, unless nearly all steps have some.
double TrendOfRun(const SurvivorSeries& series, StepSpan span);

// Returns how many times the variance of independent births that of the births in the windows of the span is, trend
// left aside, and 1 at the least. Busy phases of a job make births come in bursts; the standard deviation of a trend is
// then larger by the square root of this. A step counts once. 1 for spans too short to tell.
double Overdispersion(const SurvivorSeries& series, StepSpan span);

enum class Trend { kConstant, kDecelerating, kAccelerating };

struct TrendEvidence {
  Trend trend = Trend::kConstant;
  HalvesRatio late_to_early;
  double laplace = 0;       // over the tested span
  double window_bytes = 0;  // result of WindowTrend
  // Over the run from its second step on, warm-up included, each step counted once unless nearly all have survivors:
  // how far they lean to the end, in standard deviations of the same steps in any order.
  double lean_of_run = 0;
  double overdispersion = 1;  // over the last two thirds of the same
};

// Judges the trend of a site's survivors. `run_series` and `run_span`: the same site including warm-up. A cache gets
// most of its entries in the first steps, while a leak grows in them as fast as later. The warm-up therefore
// distinguishes the two long before the tested span can.
TrendEvidence JudgeTrend(const SurvivorSeries& series, StepSpan span, const std::vector<SurvivorTotal>& windows,
                         const SurvivorSeries& run_series, StepSpan run_span);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_TREND_H_
