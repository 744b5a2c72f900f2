// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/value_findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/leaks/value_fit.h"

namespace vramtrack {
namespace {

// Times the largest value so far.
constexpr double kPredicted[] = {1.25, 2};
// Further than this the line is not followed.
constexpr double kFarthest = 4;

// Whether a predicted peak stays within `limit`.
DeviceFit FitOf(const Interval& interval, double limit) {
  return interval.high <= limit ? DeviceFit::kYes : interval.low > limit ? DeviceFit::kNo : DeviceFit::kMaybe;
}

bool IsWhole(double value) { return value == std::floor(value); }

// More than a CUDA context takes, where the trace does not have it: with PyTorch on an H100 it is .6 GiB.
constexpr uint64_t kMostOfContext = 1 << 30;

// The most that can surely be live on the device; none: its size is not known.
std::optional<double> MostLive(const Scope& scope, const ReportDevice& device) {
  if (device.total_bytes == 0) return std::nullopt;
  const uint64_t total =
      device.total_bytes - std::min(device.total_bytes, device.asked_free_memory ? 0 : kMostOfContext);
  return std::max(0.0, BytesForLive(scope, total) - static_cast<double>(scope.peak_moment.usage.free_pinned));
}

ReportValueFit::Line DescribeLine(const ValueFit& fit, const std::optional<double>& limit, bool whole) {
  ReportValueFit::Line line;
  line.bytes_per_unit = fit.bytes_per_unit();
  line.ci_low = fit.bytes_per_unit_interval().low;
  line.ci_high = fit.bytes_per_unit_interval().high;
  line.fixed_bytes = fit.fixed();
  line.fixed_low = fit.fixed_interval().low;
  line.fixed_high = fit.fixed_interval().high;
  line.explained = fit.explained();
  if (fit.bend()) {
    line.bend_value = *fit.bend();
    line.floor_bytes = fit.floor();
  }
  for (const double times : kPredicted) {
    const double value = whole ? std::ceil(times * fit.most()) : times * fit.most();
    const PredictedBytes predicted = fit.Predict(value);
    line.predictions.push_back({value, predicted.bytes, predicted.interval.low, predicted.interval.high,
                                limit ? std::optional<DeviceFit>(FitOf(predicted.interval, *limit)) : std::nullopt});
  }
  if (limit) {
    line.limit_bytes = limit;
    const double farthest = kFarthest * fit.most();
    line.largest_value = fit.LargestWithin(*limit, farthest);
    line.more_may_fit = line.largest_value && *line.largest_value >= farthest;
    if (line.largest_value && whole) line.largest_value = std::floor(*line.largest_value);
  }
  return line;
}

}  // namespace

void ValueFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  const std::vector<double>& values = values_.values();
  const RunShape& run = analysis_.run();
  if (run.windows || values.empty()) return;
  for (ReportDevice& device : findings->devices) {
    const Scope* scope = LeadingScope(analysis_.ledger(), DeviceIndex(device.index));
    if (scope == nullptr || scope->peak == 0) continue;
    std::vector<ValuedStep> steps;
    bool whole = true;
    for (size_t step = run.warmup_end; step < std::min<size_t>(run.steps, values.size()); ++step) {
      // Steps before the first use of the device have nothing to explain.
      if (values[step] <= 0 || (steps.empty() && scope->ceilings[step] == 0)) continue;
      whole = whole && IsWhole(values[step]);
      steps.push_back({static_cast<double>(step), values[step], static_cast<double>(scope->ceilings[step])});
    }
    const ValueFit fit(std::move(steps));
    ReportValueFit& described = device.by_value.emplace();
    described.steps = fit.steps();
    described.least_value = fit.least();
    described.most_value = fit.most();
    described.refused = fit.refused();
    if (fit.refused().empty()) described.line = DescribeLine(fit, MostLive(*scope, device), whole);
  }
}

}  // namespace vramtrack
