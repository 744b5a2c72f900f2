// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/base/median.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxPoints = 500;
constexpr size_t kMaxFittedPoints = 300;
constexpr double kNormal975 = 1.959964;
// Stretches of a run that tell how far it wanders, and Student's t for as many.
constexpr size_t kLags = 8;
constexpr double kStudent975 = 2.306;
// After so many times the longest time between two rises, and so many points, another one is not to be expected.
constexpr size_t kLongSinceRise = 3, kLongPoints = 10;

struct Point {
  double step, bytes;
};

template <typename Level>
std::vector<Point> Sample(const std::vector<Level>& floors, size_t begin, size_t most) {
  std::vector<Point> points;
  begin = std::min(begin, floors.size());
  const size_t steps = floors.size() - begin;
  const size_t count = std::min(steps, most);
  points.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    // The first and the last step are among them.
    const size_t offset = count > 1 ? i * (steps - 1) / (count - 1) : 0;
    points.push_back({static_cast<double>(begin + offset), static_cast<double>(floors[begin + offset])});
  }
  return points;
}

// The variance of Mann and Kendall's S when there is no trend (Kendall 1975, with groups of equal values).
double KendallVariance(const std::vector<Point>& points) {
  const double n = static_cast<double>(points.size());
  double variance = n * (n - 1) * (2 * n + 5);
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) values.push_back(point.bytes);
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    const double tied = static_cast<double>(end - i);
    variance -= tied * (tied - 1) * (2 * tied + 5);
    i = end;
  }
  return variance / 18;
}

// Theil and Sen's slope. Its interval (Sen 1968): the slopes whose ranks are half the spread of S away from the middle.
Growth SenSlope(const std::vector<Point>& points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      slopes.push_back((points[j].bytes - points[i].bytes) / (points[j].step - points[i].step));
    }
  }
  const double pairs = static_cast<double>(slopes.size());
  const double spread = kNormal975 * std::sqrt(std::max(0.0, KendallVariance(points)));
  const auto ranked = [&](double position) {
    const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(std::clamp(position, 0.0, pairs - 1));
    std::nth_element(slopes.begin(), at, slopes.end());
    return *at;
  };
  Growth growth;
  growth.ci_low = ranked(std::floor((pairs - spread) / 2) - 1);
  growth.ci_high = ranked(std::ceil((pairs + spread) / 2));
  growth.bytes_per_step = Median(std::move(slopes));
  return growth;
}

// Mean square of what the level changes by over `lag` points, beyond its growth.
double Spread(const std::vector<double>& levels, double growth_per_point, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < levels.size(); ++i) {
    const double change = levels[i] - levels[i - lag] - growth_per_point * static_cast<double>(lag);
    sum += change * change;
  }
  return sum / static_cast<double>(levels.size() - lag);
}

// The height at which half of the sum of all rises is in lower ones.
double UsualRise(const std::vector<double>& levels) {
  std::vector<double> rises;
  for (size_t i = 1; i < levels.size(); ++i) {
    if (levels[i] > levels[i - 1]) rises.push_back(levels[i] - levels[i - 1]);
  }
  std::sort(rises.begin(), rises.end());
  double left = std::accumulate(rises.begin(), rises.end(), 0.0) / 2;
  for (const double rise : rises) {
    left -= rise;
    if (left <= 0) return rise;
  }
  return 0;
}

}  // namespace

LevelSeries SeriesOf(const std::vector<uint64_t>& low, const std::vector<uint64_t>& high) {
  return {{low.begin(), low.end()}, {high.begin(), high.end()}, 1};
}

std::optional<Growth> EstimateGrowth(const std::vector<uint64_t>& floors, Step warmup_end) {
  const std::vector<Point> points = Sample(floors, warmup_end, kMaxPoints);
  if (points.size() < kMinGrowthSteps) return std::nullopt;
  const Growth growth = SenSlope(points);
  if (growth.ci_low <= 0 || growth.bytes_per_step <= 0) return std::nullopt;
  return growth;
}

std::vector<double> WithoutSpikes(const std::vector<double>& values) {
  constexpr size_t kReach = 2;
  std::vector<double> smooth, around;
  smooth.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    // As far to one side as to the other: at its ends a line stays a line.
    const size_t reach = std::min({kReach, i, values.size() - 1 - i});
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(i);
    around.assign(at - static_cast<std::ptrdiff_t>(reach), at + static_cast<std::ptrdiff_t>(reach) + 1);
    smooth.push_back(Median(around));
  }
  return smooth;
}

std::optional<FittedGrowth> FitGrowth(const LevelSeries& series, size_t begin) {
  const std::vector<Point> points = Sample(series.low, begin, kMaxFittedPoints);
  if (points.size() < kMinGrowthSteps) return std::nullopt;
  FittedGrowth growth;
  static_cast<Growth&>(growth) = SenSlope(points);
  const std::vector<double> levels =
      WithoutSpikes({series.low.begin() + static_cast<std::ptrdiff_t>(begin), series.low.end()});
  size_t longest = 1, last = 0;
  for (size_t i = 1; i < levels.size(); ++i) {
    if (levels[i] <= levels[i - 1]) continue;
    if (++growth.rises > 1) longest = std::max(longest, i - last);
    last = i;
  }
  growth.stopped = growth.rises > 1 && levels.size() - last > std::max(kLongPoints, kLongSinceRise * longest);

  if (growth.bytes_per_step > 0) {
    growth.rise_steps = UsualRise(levels) / growth.bytes_per_step * series.steps_per_point;
  }

  const size_t lag = std::max<size_t>(3, levels.size() / kLags);
  // Not neighbours: their medians share points.
  const size_t near = std::clamp<size_t>(lag / 2, 1, 5);
  const double wander = (Spread(levels, growth.bytes_per_step, lag) - Spread(levels, growth.bytes_per_step, near)) /
                        static_cast<double>(lag - near);
  if (wander > 0) {
    // The variance of a straight line's slope through a random walk, Student's t for as many independent stretches.
    const double margin = kStudent975 * std::sqrt(1.2 * wander / static_cast<double>(levels.size()));
    growth.ci_low = growth.bytes_per_step - std::hypot(growth.bytes_per_step - growth.ci_low, margin);
    growth.ci_high = growth.bytes_per_step + std::hypot(growth.ci_high - growth.bytes_per_step, margin);
    growth.wander_per_step = wander / series.steps_per_point;
  }
  growth.bytes_per_step /= series.steps_per_point;
  growth.ci_low /= series.steps_per_point;
  growth.ci_high /= series.steps_per_point;
  return growth;
}

namespace {

// The last points that tell where the level is now; as many as lie between two rises, if that is more.
constexpr size_t kLastPoints = 10;

// After how many steps, with probability `share` at most, one of them has not fitted: with k of n needs within the room
// that is left, a step fits with probability k / n. `needs` ascend; `room`: above the level now.
double FirstFailure(const std::vector<double>& needs, double steps_per_point, double room, double growth,
                    double share) {
  const double n = static_cast<double>(needs.size());
  const double wanted = -std::log1p(-share);
  double hazard = 0, step = std::max(0.0, (room - needs.back()) / growth);  // until there all fit
  for (size_t fitting = needs.size() - 1; fitting > 0; --fitting) {
    const double until = std::max(step, (room - needs[fitting - 1]) / growth);
    const double each = -std::log(static_cast<double>(fitting) / n) / steps_per_point;
    if (hazard + each * (until - step) >= wanted) return step + (wanted - hazard) / each;
    hazard += each * (until - step);
    step = until;
  }
  return step;
}

}  // namespace

std::optional<StepsToOom> PredictStepsToOom(const FittedGrowth& growth, const LevelSeries& series, size_t begin,
                                            double limit_bytes) {
  if (growth.ci_low <= 0 || begin >= series.low.size()) return std::nullopt;
  const std::vector<double> low(series.low.begin() + static_cast<std::ptrdiff_t>(begin), series.low.end());
  const std::vector<double> smooth = WithoutSpikes(low);
  std::vector<double> needs, last;
  for (size_t i = 0; i < low.size(); ++i) needs.push_back(series.high[begin + i] - smooth[i]);
  std::sort(needs.begin(), needs.end());
  const double per_point = growth.bytes_per_step * series.steps_per_point;
  const auto rise_points = static_cast<size_t>(
      std::min(std::ceil(growth.rise_steps / series.steps_per_point), static_cast<double>(low.size())));
  for (size_t i = low.size() - std::min(std::max(kLastPoints, rise_points), low.size()); i < low.size(); ++i) {
    last.push_back(low[i] + per_point * static_cast<double>(low.size() - 1 - i));
  }
  const double room = limit_bytes - UpperMedian(std::move(last));

  const auto after = [&](double slope, double share) {
    return FirstFailure(needs, series.steps_per_point, room, slope, share);
  };
  StepsToOom left;
  left.steps = after(growth.bytes_per_step, .5);
  const double wander = kNormal975 * std::sqrt(left.steps * growth.wander_per_step) / growth.bytes_per_step;
  const auto margin = [&](double slope, double share) {
    return std::hypot(std::hypot(left.steps - after(slope, .5), left.steps - after(growth.bytes_per_step, share)),
                      std::hypot(wander, growth.rise_steps));
  };
  left.low = std::max(0.0, std::floor(left.steps - margin(growth.ci_high, .025)));
  left.high = left.steps + margin(growth.ci_low, .975);
  return left;
}

}  // namespace vramtrack
