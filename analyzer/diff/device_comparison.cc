// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/device_comparison.h"

#include <algorithm>
#include <cmath>

#include "analyzer/diff/significance.h"
#include "analyzer/leaks/growth.h"

namespace vramtrack {
namespace {

constexpr double kMostSteps = 0.9;

DiffValue Value(double base, double next, const std::vector<double>& base_sample,
                const std::vector<double>& next_sample, bool in_step) {
  DiffValue value;
  value.base = base;
  value.next = next;
  if (base_sample.size() >= kMinSample && base_sample != next_sample &&
      IsMaterial(Mean(base_sample), Mean(next_sample)) && MannWhitney(base_sample, next_sample).p_value < kAlpha) {
    value.significant = IsMaterial(base, next);
  }
  if (in_step && IsMaterial(base, next)) value.significant = true;
  return value;
}

DiffValue GrowthValue(const DeviceSeries& base, const StepWindow& base_window, const DeviceSeries& next,
                      const StepWindow& next_window) {
  const auto estimate = [](const DeviceSeries& series, const StepWindow& window) {
    Growth growth = EstimateGrowth(series.floors, window.begin).value_or(Growth());
    for (double* number : {&growth.bytes_per_step, &growth.ci_low, &growth.ci_high}) *number *= window.per_unit;
    return growth;
  };
  const Growth old = estimate(base, base_window), now = estimate(next, next_window);
  DiffValue value;
  value.base = old.bytes_per_step;
  value.next = now.bytes_per_step;
  value.significant =
      RatesDiffer({old.bytes_per_step, old.ci_low, old.ci_high}, {now.bytes_per_step, now.ci_low, now.ci_high});
  return value;
}

}  // namespace

bool InStep(const DeviceSeries& base, const DeviceSeries& next) {
  const size_t steps = base.step_peaks.size();
  if (steps == 0 || steps != next.step_peaks.size() || base.peak_step != next.peak_step) return false;
  size_t same = 0;
  for (size_t i = 0; i < steps; ++i) same += base.step_peaks[i] == next.step_peaks[i];
  return static_cast<double>(same) >= kMostSteps * static_cast<double>(steps);
}

DiffDevice CompareDevices(uint32_t index, const DeviceSeries& base, const StepWindow& base_window,
                          const DeviceSeries& next, const StepWindow& next_window,
                          const std::map<std::string, CategorySeries>& categories) {
  const bool in_step = InStep(base, next);
  const auto number = [](uint64_t bytes) { return static_cast<double>(bytes); };
  DiffDevice device;
  device.index = index;
  device.peak = Value(number(base.run_peak), number(next.run_peak), base.peak, next.peak, in_step);
  device.fragmentation = Value(number(base.run_fragmentation), number(next.run_fragmentation), base.fragmentation,
                               next.fragmentation, in_step);
  device.reserved_peak.base = number(base.run_reserved_peak);
  device.reserved_peak.next = number(next.run_reserved_peak);
  device.reserved_peak.significant = (device.peak.significant || device.fragmentation.significant) &&
                                     IsMaterial(device.reserved_peak.base, device.reserved_peak.next);
  device.growth = GrowthValue(base, base_window, next, next_window);
  for (const auto& [name, series] : categories) {
    device.categories.push_back(
        {name, Value(series.base_at_peak, series.next_at_peak, series.base, series.next, in_step)});
  }
  return device;
}

}  // namespace vramtrack
