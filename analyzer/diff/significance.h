// SPDX-License-Identifier: Apache-2.0
//
// Whether two samples differ by more than chance, and by how much.
#ifndef ANALYZER_DIFF_SIGNIFICANCE_H_
#define ANALYZER_DIFF_SIGNIFICANCE_H_

#include <cstddef>
#include <vector>

namespace vramtrack {

constexpr double kAlpha = 0.01;

// Fewer values on a side are no sample: nothing is said of chance then.
constexpr size_t kMinSample = 8;

struct RankTest {
  double p_value = 1;       // two-sided, by the normal approximation with its correction for ties
  double cliffs_delta = 0;  // -1 to 1: how much more often a value of the second sample is the larger one
};

// Steps of one run are more alike than two runs are, so that a small p-value alone is no reason to believe in a change:
// the samples must hardly overlap, too. For 24 blocks a side chance does that once in 2,500 times.
constexpr double kLeastEffect = 0.6;

// Whether the means differ by more than the samples wander: Welch's test, two-sided, with variances as of a series
// whose values are like their neighbours (autoregressive of the first order). A load that drifts, or a cache that turns
// over in many steps, has few independent values however many steps there are. 0 where nothing varies.
double MeansDiffer(const std::vector<double>& first, const std::vector<double>& second);

// By how much longer the interval of a mean is than that of independent values. At least 1.
double Wander(const std::vector<double>& values);

// Mann and Whitney's U; its p-value is not smaller than that of MeansDiffer().
RankTest Compare(const std::vector<double>& first, const std::vector<double>& second);

// Mann and Whitney's U.
RankTest MannWhitney(const std::vector<double>& first, const std::vector<double>& second);

double Mean(const std::vector<double>& values);

// The median of the slopes between all pairs of values, per value.
double TheilSenSlope(const std::vector<double>& values);

// A rate in bytes per step with its interval of 95 %.
struct RateInterval {
  double rate = 0, low = 0, high = 0;
};

// Whether the interval of the difference leaves out zero, and the difference would matter in the run's horizon.
bool RatesDiffer(const RateInterval& base, const RateInterval& next);

// Whether a difference matters: one per cent of the larger value and a mebibyte.
bool IsMaterial(double base, double next);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SIGNIFICANCE_H_
