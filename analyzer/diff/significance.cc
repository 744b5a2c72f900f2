// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/significance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/base/median.h"

namespace vramtrack {
namespace {

constexpr double kMaterialShare = 0.01;
constexpr double kMaterialBytes = 1 << 20;
constexpr double kHorizonSteps = 100000;  // as RunShape has it

struct Moments {
  double mean = 0, variance = 0;
  double likeness = 0;  // of neighbours: the correlation at lag 1, without the bias of short series
};

Moments MomentsOf(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  Moments moments;
  moments.mean = Mean(values);
  if (values.size() < 2) return moments;
  double squares = 0, products = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - moments.mean;
    squares += off * off;
    if (i > 0) products += off * (values[i - 1] - moments.mean);
  }
  moments.variance = squares / (n - 1);
  if (squares <= 0) return moments;
  const double correlation = products / squares;
  moments.likeness = std::clamp(correlation + (1 + 4 * correlation) / n, 0.0, 0.98);
  return moments;
}

double Inflation(double likeness) { return (1 + likeness) / (1 - likeness); }

// Two-sided, of Student's t: Wallace's approximation, which errs on the side of caution where there are few degrees.
double TwoSided(double t, double degrees) {
  const double z = (1 - 1 / (4 * degrees + 1)) * std::sqrt(degrees * std::log1p(t * t / degrees));
  return std::erfc(z / std::sqrt(2.0));
}

// Welch's test of samples of these sizes, which need not be whole numbers where values are like their neighbours.
double Welch(const Moments& a, double m, const Moments& b, double n) {
  if (a.variance <= 0 && b.variance <= 0) return a.mean == b.mean ? 1 : 0;
  const double of_a = a.variance / m, of_b = b.variance / n;
  const double t = (b.mean - a.mean) / std::sqrt(of_a + of_b);
  const auto degrees_of = [](double size) { return std::max(size - 1, 0.5); };
  const double degrees = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / degrees_of(m) + of_b * of_b / degrees_of(n));
  return TwoSided(t, degrees);
}

// The p-value; 0 if nothing varies.
double MeansDiffer(const std::vector<double>& first, const std::vector<double>& second) {
  const Moments a = MomentsOf(first), b = MomentsOf(second);
  // How the job wanders is much the same in both runs, and of few values it is easily taken for less.
  const double inflation = Inflation(std::max(a.likeness, b.likeness));
  return Welch(a, static_cast<double>(first.size()) / inflation, b, static_cast<double>(second.size()) / inflation);
}

}  // namespace

double Wander(const std::vector<double>& values) { return std::sqrt(Inflation(MomentsOf(values).likeness)); }

RankTest Compare(const std::vector<double>& first, const std::vector<double>& second) {
  RankTest test = MannWhitney(first, second);
  test.p_value = std::max(test.p_value, MeansDiffer(first, second));
  return test;
}

RankTest MannWhitney(const std::vector<double>& first, const std::vector<double>& second) {
  const double m = static_cast<double>(first.size()), n = static_cast<double>(second.size());
  if (first.empty() || second.empty()) return {};
  std::vector<std::pair<double, bool>> all;
  for (const double value : first) all.push_back({value, false});
  for (const double value : second) all.push_back({value, true});
  std::sort(all.begin(), all.end());
  double rank_sum = 0, ties = 0;  // ranks of the second sample
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    double of_second = 0;
    while (end < all.size() && all[end].first == all[i].first) of_second += all[end++].second;
    const double tied = static_cast<double>(end - i);
    rank_sum += of_second * (static_cast<double>(i + end) + 1) / 2;
    ties += tied * (tied * tied - 1);
    i = end;
  }
  const double u = rank_sum - n * (n + 1) / 2, both = m + n;
  const double variance = m * n / 12 * (both + 1 - ties / (both * (both - 1)));
  RankTest test;
  test.cliffs_delta = 2 * u / (m * n) - 1;
  if (variance <= 0) return test;
  const double distance = std::max(0.0, std::fabs(u - m * n / 2) - 0.5);
  test.p_value = std::erfc(distance / std::sqrt(2 * variance));
  return test;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double TheilSenSlope(const std::vector<double>& values) {
  std::vector<double> slopes;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
    }
  }
  return slopes.empty() ? 0 : UpperMedian(std::move(slopes));
}

bool RatesDiffer(const Growth& base, const Growth& next) {
  const double delta = std::fabs(next.bytes_per_step - base.bytes_per_step);
  const double spread = std::hypot((base.ci_high - base.ci_low) / 2, (next.ci_high - next.ci_low) / 2);
  return delta > spread && delta * kHorizonSteps >= kMaterialBytes &&
         delta >= kMaterialShare * std::max(std::fabs(base.bytes_per_step), std::fabs(next.bytes_per_step));
}

bool IsMaterial(double base, double next) {
  const double delta = std::fabs(next - base);
  return delta >= kMaterialBytes && delta >= kMaterialShare * std::max(base, next);
}

}  // namespace vramtrack
