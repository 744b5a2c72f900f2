// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace vramtrack {
namespace {

constexpr size_t kMaxPoints = 500;
constexpr double kNormal975 = 1.959964;

struct Point {
  double step, bytes;
};

std::vector<Point> Sample(const std::vector<uint64_t>& floors, Step warmup_end) {
  std::vector<Point> points;
  const size_t begin = std::min<size_t>(warmup_end, floors.size());
  const size_t steps = floors.size() - begin;
  const size_t count = std::min(steps, kMaxPoints);
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

double Median(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

std::optional<Growth> EstimateGrowth(const std::vector<uint64_t>& floors, Step warmup_end) {
  const std::vector<Point> points = Sample(floors, warmup_end);
  if (points.size() < kMinGrowthSteps) return std::nullopt;
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      slopes.push_back((points[j].bytes - points[i].bytes) / (points[j].step - points[i].step));
    }
  }
  std::sort(slopes.begin(), slopes.end());

  // Sen 1968: the slopes whose ranks are half the spread of S away from the middle.
  const double pairs = static_cast<double>(slopes.size());
  const double spread = kNormal975 * std::sqrt(std::max(0.0, KendallVariance(points)));
  const auto rank = [&](double position) { return static_cast<size_t>(std::clamp(position, 0.0, pairs - 1)); };
  Growth growth;
  growth.bytes_per_step = Median(slopes);
  growth.ci_low = slopes[rank(std::floor((pairs - spread) / 2) - 1)];
  growth.ci_high = slopes[rank(std::ceil((pairs + spread) / 2))];
  if (growth.ci_low <= 0 || growth.bytes_per_step <= 0) return std::nullopt;
  return growth;
}

std::optional<StepsToOom> EstimateStepsToOom(const Growth& growth, uint64_t level_bytes, uint64_t limit_bytes) {
  if (limit_bytes == 0 || growth.ci_low <= 0) return std::nullopt;
  if (level_bytes >= limit_bytes) return StepsToOom{};
  const double left = static_cast<double>(limit_bytes - level_bytes);
  return StepsToOom{left / growth.bytes_per_step, left / growth.ci_high, left / growth.ci_low};
}

}  // namespace vramtrack
