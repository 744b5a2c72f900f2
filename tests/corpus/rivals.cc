// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/rivals.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace vramtrack::corpus {
namespace {

constexpr size_t kMaxPoints = 200;
constexpr double kMegabyte = 1e6;
constexpr double kMebibyte = 1 << 20;
// For rules about time, which the emulation has none of.
constexpr double kSecondsPerStep = 1;

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

// msMemScope: blocks born after the first step that live past the end of a later one. Here, because blocks are not told
// apart: more is live at two step ends in a row than at the first of all.
std::optional<double> PastALaterStep(const SiteRecord& site, int steps) {
  const std::vector<double> series = Series(site, steps);
  for (size_t i = 1; i + 1 < series.size(); ++i) {
    if (std::min(series[i], series[i + 1]) > series[0]) return series.back() - series[0] + 1;
  }
  return std::nullopt;
}

std::vector<double> Differences(const std::vector<double>& series) {
  std::vector<double> differences;
  for (size_t i = 1; i < series.size(); ++i) differences.push_back(series[i] - series[i - 1]);
  return differences;
}

// Stormlog: growth on average, in more than 70 % of calls, and more than 100 MiB together.
std::optional<double> Stormlog(const SiteRecord& site, int steps) {
  const std::vector<double> differences = Differences(Series(site, steps));
  double sum = 0;
  for (const double difference : differences) sum += difference;
  const auto growing =
      std::count_if(differences.begin(), differences.end(), [](double difference) { return difference > 0; });
  const bool leaks =
      static_cast<double>(growing) > .7 * static_cast<double>(differences.size()) && sum > 100 * kMebibyte;
  return leaks ? std::optional<double>(sum) : std::nullopt;
}

// gpulse: R2 of .7 and 1 MB/s for at least five minutes, or a fifth more within 30 seconds.
std::optional<double> Gpulse(const SiteRecord& site, int steps) {
  const std::vector<double> series = Series(site, steps);
  if (IsConstant(series)) return std::nullopt;
  const Line line = FitLine(series);
  const double per_second = line.slope / kSecondsPerStep;
  if (static_cast<double>(series.size()) * kSecondsPerStep >= 300 && line.r2 >= .7 && per_second >= kMegabyte) {
    return per_second;
  }
  const auto window = static_cast<size_t>(30 / kSecondsPerStep);
  for (size_t i = window; i < series.size(); ++i) {
    if (series[i - window] > 0 && series[i] >= 1.2 * series[i - window]) return std::max(per_second, 1.0);
  }
  return std::nullopt;
}

// vramtop: the median rate of a window is above 1 MB/s in ten samples in a row.
std::optional<double> Vramtop(const SiteRecord& site, int steps) {
  constexpr size_t kWindow = 10;
  const std::vector<double> differences = Differences(Series(site, steps));
  size_t sustained = 0;
  for (size_t end = kWindow; end <= differences.size(); ++end) {
    std::vector<double> window(differences.begin() + static_cast<std::ptrdiff_t>(end - kWindow),
                               differences.begin() + static_cast<std::ptrdiff_t>(end));
    std::nth_element(window.begin(), window.begin() + kWindow / 2, window.end());
    const double rate = window[kWindow / 2] / kSecondsPerStep;
    sustained = rate > kMegabyte ? sustained + 1 : 0;
    if (sustained == 10) return rate;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<Rival>& Rivals() {
  static const std::vector<Rival>* const kRivals = new std::vector<Rival>{
      {"live at exit", LiveAtExit},
      {"last minus first > 1 %", LastMinusFirst},
      {"Mann-Kendall p < .05", MannKendall},
      {"least squares R2 > .8", LeastSquares},
      {"Scalene's score", Scalene},
      {"over 1 MB an iteration", MegabyteAnIteration},
      {"msMemScope", PastALaterStep},
      {"Stormlog", Stormlog},
      {"gpulse", Gpulse},
      {"vramtop", Vramtop},
  };
  return *kRivals;
}

}  // namespace vramtrack::corpus
