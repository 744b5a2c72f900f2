// SPDX-License-Identifier: Apache-2.0
//
// Whether survivors come more slowly or faster as the run goes on.
#ifndef ANALYZER_LEAKS_TREND_H_
#define ANALYZER_LEAKS_TREND_H_

#include <vector>

#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// Laplace's test: survivors at a constant rate are born in the middle of the span on average. Standard normal under a
// constant rate, negative when they come ever more slowly. 0 for an empty series. With `by_steps` a step counts once,
// however many objects it left: objects of one step are rarely independent of each other.
double LaplaceTrend(const SurvivorSeries& series, StepSpan span, bool by_steps);

// Late half of the windows over early half, in bytes and in objects; the middle one of an odd number belongs to
// neither. A large number, not infinity, where the early half is empty. Handles have no bytes: both are of objects
// then.
struct HalvesRatio {
  double bytes = 1, objects = 1;
};
HalvesRatio LateToEarly(const std::vector<SurvivorTotal>& windows);

// Mann and Kendall's statistic of the windows' bytes, standard normal where they have no trend, positive where they
// grow.
double WindowTrend(const std::vector<SurvivorTotal>& windows);

enum class Trend { kConstant, kDecelerating, kAccelerating };

struct TrendEvidence {
  Trend trend = Trend::kConstant;
  HalvesRatio late_to_early;
  double laplace = 0;         // over the tested span
  double window_bytes = 0;    // WindowTrend
  double laplace_by_run = 0;  // over the run from its second step on, warm-up included, each step counted once
};

// `run_series` and `run_span`: the same site without warm-up taken off. A cache takes most of its entries in the first
// steps, where a leak takes as many as later, so that the warm-up tells the two apart long before the tested span can.
TrendEvidence JudgeTrend(const SurvivorSeries& series, StepSpan span, const std::vector<SurvivorTotal>& windows,
                         const SurvivorSeries& run_series, StepSpan run_span);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_TREND_H_
