// SPDX-License-Identifier: Apache-2.0
//
// What a replay came to.
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "analyzer/profile/run_profile.h"

namespace vramtrack {
namespace {

constexpr double kMostSteps = 0.9;

template <typename T>
std::vector<T> First(size_t count, const std::vector<T>& values) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()))};
}

}  // namespace

// A device is known by one of its levels.
bool RunProfile::IsShown(size_t scope) const {
  return ledger_->scopes()[scope].is_leading() || peaks_[scope].device == SiteKey::kHost;
}

DeviceSeries RunProfile::SeriesOf(const Peak& peak, const Scope& scope) const {
  DeviceSeries series;
  series.run_peak = peak.run_peak;
  series.run_reserved_peak = peak.run_reserved;
  series.run_fragmentation = peak.run_fragmentation;
  series.peak_step = peak.run_step;
  series.maker = UsualMaker(peak);
  series.concurrent = 2 * peak.concurrent_steps > window_.end - window_.begin;
  series.peak.assign(window_.blocks, 0);
  series.fragmentation.assign(window_.blocks, 0);
  series.step_peaks = First(window_.end, peak.step_peaks);
  series.floors = First(window_.end, scope.floors);
  for (size_t step = 0; step < series.step_peaks.size(); ++step) {
    const uint32_t block = window_.BlockOf(static_cast<uint32_t>(step));
    if (block == window_.blocks) continue;
    series.peak[block] += static_cast<double>(peak.step_peaks[step]) / steps_in_block_[block];
    series.fragmentation[block] += static_cast<double>(peak.step_fragmentations[step]) / steps_in_block_[block];
  }
  return series;
}

uint32_t RunProfile::UsualMaker(const Peak& peak) const {
  std::map<uint32_t, size_t> steps_of;
  const size_t end = std::min<size_t>(peak.makers.size(), window_.end);
  for (size_t step = window_.begin; step < end; ++step) ++steps_of[peak.makers[step]];
  for (const auto& [maker, steps] : steps_of) {
    if (static_cast<double>(steps) >= kMostSteps * (window_.end - window_.begin)) return maker;
  }
  return DeviceSeries::kNoMaker;
}

SiteSeries RunProfile::Series(size_t match) const {
  SiteSeries series;
  for (uint32_t i = 0; i < window_.blocks; ++i) {
    const BlockSums& block = blocks_[match * window_.blocks + i];
    const double steps = steps_in_block_[i], units = steps / window_.per_unit;
    series.live.push_back(static_cast<double>(block.live) / steps);
    series.at_peak.push_back(static_cast<double>(block.at_peak) / steps);
    series.own.push_back(static_cast<double>(block.own) / steps);
    series.bytes.push_back(static_cast<double>(block.bytes) / units);
    series.births.push_back(static_cast<double>(block.births) / units);
  }
  return series;
}

ProcessProfile RunProfile::Take() {
  ProcessProfile profile;
  profile.window = window_;
  if (!sums_) {
    for (size_t match = 0; match < states_.size(); ++match) profile.series.push_back(Series(match));
  }
  profile.totals = std::move(totals_);
  profile.sizes = std::move(sizes_);
  profile.devices = std::move(devices_);
  profile.step_size = marks_ == 0 ? 0 : mark_sum_ / marks_ * window_.per_unit;
  return profile;
}

StepSums RunProfile::TakeSums() {
  StepSums sums;
  sums.blocks = std::move(blocks_);
  sums.more = std::move(more_);
  sums.mark_sums = std::move(mark_sums_);
  sums.marks = std::move(marks_in_);
  for (size_t i = 0; i < peaks_.size(); ++i) {
    if (!IsShown(i)) continue;
    const Peak& peak = peaks_[i];
    DeviceSteps& steps = sums.devices[peak.device];
    steps = {First(window_.end, peak.step_peaks),    First(window_.end, peak.step_fragmentations),
             First(window_.end, peak.step_reserves), First(window_.end, ledger_->scopes()[i].floors),
             First(window_.end, peak.makers),        First(window_.end, peak.concurrent)};
  }
  return sums;
}

}  // namespace vramtrack
