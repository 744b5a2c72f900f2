// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/device_comparison.h"

#include <algorithm>
#include <cmath>

#include "analyzer/diff/significance.h"
#include "analyzer/leaks/growth.h"

namespace vramtrack {
namespace {

constexpr double kMostSteps = 0.9;
constexpr double kMostOf = 0.5;
// Of what is reserved: where runs are not in step, what an allocator comes to keep is up to chance, once a run.
constexpr double kMaterialFragmentation = 0.1;

// More than the runs' own spread.
bool Differs(const std::vector<double>& base, const std::vector<double>& next) {
  if (base.size() < kMinSample || base == next || !IsMaterial(Mean(base), Mean(next))) return false;
  const RankTest test = Compare(base, next);
  return test.p_value < kAlpha && std::fabs(test.cliffs_delta) >= kLeastEffect;
}

DiffValue Value(double base, double next, const std::vector<double>& base_sample,
                const std::vector<double>& next_sample, bool in_step) {
  DiffValue value;
  value.base = base;
  value.next = next;
  value.significant = IsMaterial(base, next) && (in_step || Differs(base_sample, next_sample));
  return value;
}

// Where several threads allocate at once, what there is at a time depends on how they are scheduled, and that on what
// else the machine does. What the sites hold for themselves does not.
bool SitesExplain(const DiffValue& peak, const SitesOfDevice& sites) {
  return Differs(sites.base_own, sites.next_own) && (Mean(sites.next_own) > Mean(sites.base_own)) == (peak.delta() > 0);
}

// What accumulates wanders by more than any test of means allows for; that it accumulates is what is sure. `units`: how
// long it does.
bool GrowthExplains(const DiffValue& peak, const DiffValue& growth, uint32_t units) {
  const double grown = growth.delta() * units;
  return growth.significant && (grown > 0) == (peak.delta() > 0) &&
         std::fabs(grown) >= kMostOf * std::fabs(peak.delta());
}

std::vector<double> WithoutSlope(const std::vector<uint64_t>& floors, uint32_t begin, double slope) {
  std::vector<double> rest;
  for (size_t i = begin; i < floors.size(); ++i) {
    rest.push_back(static_cast<double>(floors[i]) - slope * static_cast<double>(i));
  }
  return rest;
}

DiffValue GrowthValue(const DeviceSeries& base, const StepWindow& base_window, const DeviceSeries& next,
                      const StepWindow& next_window) {
  const auto estimate = [](const DeviceSeries& series, const StepWindow& window) {
    const uint32_t begin = window.begin / series.steps_per_value;
    Growth growth = EstimateGrowth(series.floors, begin).value_or(Growth());
    const double wander = Wander(WithoutSlope(series.floors, begin, growth.bytes_per_step));
    growth.ci_low = growth.bytes_per_step - wander * (growth.bytes_per_step - growth.ci_low);
    growth.ci_high = growth.bytes_per_step + wander * (growth.ci_high - growth.bytes_per_step);
    for (double* number : {&growth.bytes_per_step, &growth.ci_low, &growth.ci_high}) {
      *number *= static_cast<double>(window.per_unit) / series.steps_per_value;
    }
    return growth;
  };
  const Growth old = estimate(base, base_window), now = estimate(next, next_window);
  DiffValue value;
  value.base = old.bytes_per_step;
  value.next = now.bytes_per_step;
  value.significant = RatesDiffer(old, now);
  return value;
}

}  // namespace

bool InStep(const DeviceSeries& base, const DeviceSeries& next) {
  const size_t steps = base.step_peaks.size();
  if (steps == 0 || steps != next.step_peaks.size() || base.steps_per_value != next.steps_per_value ||
      base.peak_step != next.peak_step)
    return false;
  size_t same = 0;
  for (size_t i = 0; i < steps; ++i) same += base.step_peaks[i] == next.step_peaks[i];
  return static_cast<double>(same) >= kMostSteps * static_cast<double>(steps);
}

DiffDevice CompareDevices(uint32_t index, const DeviceSeries& base, const StepWindow& base_window,
                          const DeviceSeries& next, const StepWindow& next_window, const SitesOfDevice& sites) {
  const bool in_step = InStep(base, next);
  const auto number = [](uint64_t bytes) { return static_cast<double>(bytes); };
  DiffDevice device;
  device.index = index;
  device.growth = GrowthValue(base, base_window, next, next_window);
  device.peak = Value(number(base.run_peak), number(next.run_peak), base.peak, next.peak, in_step);
  if ((base.concurrent || next.concurrent) && !in_step) device.peak.significant &= SitesExplain(device.peak, sites);
  const bool accumulates = IsMaterial(device.peak.base, device.peak.next) &&
                           GrowthExplains(device.peak, device.growth, base_window.end / base_window.per_unit);
  device.peak.significant |= accumulates;
  device.fragmentation = Value(number(base.run_fragmentation), number(next.run_fragmentation), base.fragmentation,
                               next.fragmentation, in_step);
  device.reserved_peak.base = number(base.run_reserved_peak);
  device.reserved_peak.next = number(next.run_reserved_peak);
  if (!in_step) {
    const double reserved = std::max(device.reserved_peak.base, device.reserved_peak.next);
    device.fragmentation.significant &= std::fabs(device.fragmentation.delta()) >= kMaterialFragmentation * reserved;
  }
  device.reserved_peak.significant = (device.peak.significant || device.fragmentation.significant) &&
                                     IsMaterial(device.reserved_peak.base, device.reserved_peak.next);
  for (const auto& [name, series] : sites.categories) {
    DiffValue value = Value(series.base_at_peak, series.next_at_peak, series.base, series.next, in_step);
    value.significant |= accumulates && value.delta() / device.peak.delta() >= kMostOf;
    device.categories.push_back({name, value});
  }
  return device;
}

}  // namespace vramtrack
