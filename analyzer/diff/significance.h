// SPDX-License-Identifier: Apache-2.0
//
// Tests whether two samples differ by more than chance, and by how much.
#ifndef ANALYZER_DIFF_SIGNIFICANCE_H_
#define ANALYZER_DIFF_SIGNIFICANCE_H_

#include <cstddef>
#include <vector>

#include "analyzer/leaks/growth.h"

namespace vramtrack {

constexpr double kAlpha = 0.01;

// The minimum size of a sample. With fewer values on a side no test is made.
constexpr size_t kMinSample = 8;

struct RankTest {
  double p_value = 1;  // two-sided, by the normal approximation with its correction for ties
  // From -1 to 1: how much more often a value of the second sample is the larger one.
  double cliffs_delta = 0;
};

// The minimum effect size. Steps of one run are more alike than two runs are, so a small p-value alone is not evidence
// of a change: the samples must hardly overlap, too. With 24 blocks on each side, chance causes that once in 2,500
// times.
constexpr double kLeastEffect = 0.6;

// Returns the factor by which the interval of the mean is longer than for independent values; at least 1.
double Wander(const std::vector<double>& values);

// Returns the Mann-Whitney U test, but with a p-value not smaller than that of Welch's test, whether the means differ
// by more than the samples wander. Its variances are those of an autoregressive series of first order, in which values
// resemble their neighbours: a load that drifts, or a cache that turns over in many steps, has few independent values
// however many steps there are.
RankTest Compare(const std::vector<double>& first, const std::vector<double>& second);

// Returns the Mann-Whitney U test.
RankTest MannWhitney(const std::vector<double>& first, const std::vector<double>& second);

double Mean(const std::vector<double>& values);

// Returns the median of the slopes between all pairs of values, per value.
double TheilSenSlope(const std::vector<double>& values);

// Returns whether the interval of the difference excludes zero, and the difference matters within the run's horizon.
bool RatesDiffer(const Growth& base, const Growth& next);

// Returns whether a difference matters: it is at least one per cent of the larger value and a mebibyte.
bool IsMaterial(double base, double next);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SIGNIFICANCE_H_
