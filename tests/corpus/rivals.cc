// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/rivals.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace vramtrack::corpus {
namespace {

constexpr size_t kMaxPoints = 200;
constexpr double kMegabyte = 1e6;

// After the warm-up that all of them are granted.
std::vector<double> Series(const SiteRecord& site, int steps) {
  std::vector<double> live = site.live_by_step;
  live.resize(static_cast<size_t>(steps), live.empty() ? 0 : live.back());
  live.erase(live.begin(), live.begin() + std::max(5, steps / 10));
  return live;
}

std::vector<double> Thinned(const std::vector<double>& series) {
  if (series.size() <= kMaxPoints) return series;
  std::vector<double> thin;
  for (size_t i = 0; i < kMaxPoints; ++i) thin.push_back(series[i * series.size() / kMaxPoints]);
  return thin;
}

struct Line {
  double slope = 0, r2 = 0;
};

Line FitLine(const std::vector<double>& y) {
  const auto n = static_cast<double>(y.size());
  const double mean_x = (n - 1) / 2;
  double mean_y = 0, xy = 0, xx = 0, yy = 0;
  for (const double value : y) mean_y += value / n;
  for (size_t i = 0; i < y.size(); ++i) {
    const double dx = static_cast<double>(i) - mean_x, dy = y[i] - mean_y;
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  if (yy <= 0) return {};
  return {xy / xx, xy * xy / xx / yy};
}

bool IsConstant(const std::vector<double>& series) {
  return std::all_of(series.begin(), series.end(), [&](double value) { return value == series[0]; });
}

// compute-sanitizer, memray --leaks, DrGPUM.
std::optional<double> LiveAtExit(const SiteRecord& site, int steps) {
  const double live = Series(site, steps).back();
  return live > 0 ? std::optional<double>(live) : std::nullopt;
}

// The difference of two snapshots.
std::optional<double> LastMinusFirst(const SiteRecord& site, int steps) {
  const std::vector<double> series = Series(site, steps);
  const double difference = series.back() - series.front();
  return difference > .01 * series.front() ? std::optional<double>(difference) : std::nullopt;
}

std::optional<double> MannKendall(const SiteRecord& site, int steps) {
  const std::vector<double> series = Thinned(Series(site, steps));
  if (IsConstant(series)) return std::nullopt;
  const auto n = static_cast<double>(series.size());
  double s = 0;
  std::map<double, double> ties;
  for (size_t i = 0; i < series.size(); ++i) {
    ++ties[series[i]];
    for (size_t j = i + 1; j < series.size(); ++j) s += (series[j] > series[i]) - (series[j] < series[i]);
  }
  double variance = n * (n - 1) * (2 * n + 5);
  for (const auto& [value, count] : ties) variance -= count * (count - 1) * (2 * count + 5);
  if (variance <= 0 || s <= 0 || (s - 1) / std::sqrt(variance / 18) <= 1.645) return std::nullopt;
  return FitLine(series).slope;
}

std::optional<double> LeastSquares(const SiteRecord& site, int steps) {
  const std::vector<double> series = Thinned(Series(site, steps));
  if (IsConstant(series)) return std::nullopt;
  const Line line = FitLine(series);
  return line.slope > 0 && line.r2 > .8 ? std::optional<double>(line.slope) : std::nullopt;
}

// scalene_leak_analysis.py: the rule of succession, where memory as a whole grew by 1 %.
std::optional<double> Scalene(const SiteRecord& site, int steps) {
  const auto allocations = static_cast<double>(site.allocations), frees = static_cast<double>(site.frees);
  if (1 - (frees + 1) / (allocations - frees + 2) < .95) return std::nullopt;
  return LiveAtExit(site, steps);
}

// More than a megabyte of growth in an iteration, on average.
std::optional<double> MegabyteAnIteration(const SiteRecord& site, int steps) {
  const std::vector<double> series = Series(site, steps);
  const double growth = (series.back() - series.front()) / static_cast<double>(series.size());
  return growth > kMegabyte ? std::optional<double>(growth) : std::nullopt;
}

}  // namespace

const std::vector<Rival>& Rivals() {
  static const std::vector<Rival>* const kRivals = new std::vector<Rival>{
      {"live at exit", LiveAtExit},          {"last minus first > 1 %", LastMinusFirst},
      {"Mann-Kendall p < .05", MannKendall}, {"least squares R2 > .8", LeastSquares},
      {"Scalene's score", Scalene},          {"over 1 MB an iteration", MegabyteAnIteration},
  };
  return *kRivals;
}

}  // namespace vramtrack::corpus
