// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/time_to_oom.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vramtrack {
namespace {

// The last points that tell where the level is now; as many as a stair has, if that is more.
constexpr size_t kLastPoints = 10;
constexpr double kFactorOf95 = 1.959964;

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
  const auto stair_points = static_cast<size_t>(
      std::min(std::ceil(growth.stair_steps / series.steps_per_point), static_cast<double>(low.size())));
  for (size_t i = low.size() - std::min(std::max(kLastPoints, stair_points), low.size()); i < low.size(); ++i) {
    last.push_back(low[i] + per_point * static_cast<double>(low.size() - 1 - i));
  }
  std::nth_element(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2), last.end());
  const double room = limit_bytes - last[last.size() / 2];

  const auto after = [&](double slope, double share) {
    return FirstFailure(needs, series.steps_per_point, room, slope, share);
  };
  StepsToOom left;
  left.steps = after(growth.bytes_per_step, .5);
  const double wander = kFactorOf95 * std::sqrt(left.steps * growth.wander_per_step) / growth.bytes_per_step;
  const auto margin = [&](double slope, double share) {
    return std::hypot(std::hypot(left.steps - after(slope, .5), left.steps - after(growth.bytes_per_step, share)),
                      std::hypot(wander, growth.stair_steps));
  };
  left.low = std::max(0.0, std::floor(left.steps - margin(growth.ci_high, .025)));
  left.high = left.steps + margin(growth.ci_low, .975);
  return left;
}

}  // namespace vramtrack
