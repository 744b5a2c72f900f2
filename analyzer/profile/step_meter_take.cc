// SPDX-License-Identifier: Apache-2.0
//
// The results of a replay.
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "analyzer/profile/step_meter.h"

namespace vramtrack {
namespace {

// A few bits are enough: of ten steps nine must have the same peak.
uint64_t MixOf(uint64_t peak) { return (peak * 0x9e3779b97f4a7c15) >> 48; }

void Trim(WindowSums* column) {
  if (std::all_of(column->begin(), column->end(), [](uint64_t value) { return value == 0; })) column->clear();
  column->shrink_to_fit();
}

}  // namespace

SiteWindows StepMeter::WindowsOf(uint32_t row) const {
  SiteWindows windows;
  const size_t begin = size_t{row} * window_.blocks, end = begin + window_.blocks;
  const auto take = [&](const auto& sums, auto member, WindowSums* column) {
    column->reserve(window_.blocks);
    for (size_t i = begin; i < end; ++i) column->push_back(sums[i].*member);
    Trim(column);
  };
  take(sums_, &Sums::births, &windows.births);
  take(sums_, &Sums::bytes, &windows.born_bytes);
  take(sums_, &Sums::live, &windows.live);
  take(sums_, &Sums::at_peak, &windows.at_peak);
  take(sums_, &Sums::own, &windows.own);
  if (more_.empty()) return windows;
  take(more_, &MoreSums::deaths, &windows.deaths);
  take(more_, &MoreSums::died_bytes, &windows.died_bytes);
  take(more_, &MoreSums::at_high, &windows.at_high);
  take(more_, &MoreSums::own_most, &windows.own_most);
  return windows;
}

void StepMeter::AddTotals(uint32_t row, ProfileSite* site) const {
  const Totals& of_run = totals_[row];
  site->allocations = of_run.allocations;
  site->bytes_allocated = of_run.bytes_allocated;
  site->bytes_at_peak = of_run.bytes_at_peak;
  site->own_peak = of_run.own_peak;
  site->live_bytes = of_run.live_bytes;
  site->several_threads = of_run.several_threads;
  site->many_sizes = sizes_[row].many();
  if (site->many_sizes) return;
  for (const BlockSizes::Size& size : sizes_[row].sizes()) site->sizes.push_back({size.bytes, size.count, size.exact});
}

void StepMeter::AddMakers(const Peak& peak, StepProfile* profile) const {
  for (size_t step = 0; step < std::min<size_t>(peak.makers.size(), window_.end); ++step) {
    if (peak.makers[step] >= rows_.count) continue;
    const uint32_t block = window_.BlockOf(static_cast<uint32_t>(step));
    if (block >= window_.blocks) continue;
    WindowSums& made = profile->sites[peak.makers[step]].windows.made;
    made.resize(window_.blocks);
    ++made[block];
  }
}

ProfileDevice StepMeter::DeviceOf(uint64_t steps_in_bin, const Scope& scope, const Peak& peak) const {
  ProfileDevice to;
  to.index = NumberOf(peak.device);
  to.run_peak = peak.run_peak;
  to.run_reserved_peak = peak.run_reserved;
  to.run_fragmentation = peak.run_fragmentation;
  to.peak_step = peak.run_step;
  to.steps_in_bin = steps_in_bin;
  const size_t count = std::min<size_t>(peak.step_peaks.size(), window_.end);
  const size_t bins = (count + steps_in_bin - 1) / steps_in_bin;
  for (WindowSums* column : {&to.peak, &to.fragmentation, &to.peak_sum, &to.concurrent}) column->resize(bins);
  to.floor.resize(bins, UINT64_MAX);
  for (size_t step = 0; step < count; ++step) {
    const size_t bin = step / steps_in_bin;
    to.peak[bin] += peak.step_peaks[step];
    to.fragmentation[bin] += peak.step_fragmentations[step];
    if (step < scope.floors.size()) to.floor[bin] = std::min<uint64_t>(to.floor[bin], scope.floors[step]);
    to.peak_sum[bin] += MixOf(peak.step_peaks[step]);
    to.concurrent[bin] += peak.concurrent[step];
  }
  if (more_.empty()) return to;
  for (WindowSums* column : {&to.highest, &to.reserved_highest, &to.at_highest}) column->resize(bins);
  for (size_t step = 0; step < count; ++step) {
    const size_t bin = step / steps_in_bin;
    if (step % steps_in_bin == 0 || peak.step_peaks[step] > to.highest[bin]) {
      to.highest[bin] = peak.step_peaks[step];
      to.at_highest[bin] = peak.step_fragmentations[step];
    }
    to.reserved_highest[bin] = std::max(to.reserved_highest[bin], peak.step_reserves[step]);
  }
  return to;
}

void StepMeter::Take(uint64_t steps_in_bin, StepProfile* profile) {
  Finish();
  profile->mark_sum = std::move(mark_sums_);
  profile->marks = std::move(marks_);
  profile->sites.resize(rows_.count);
  for (uint32_t row = 0; row < rows_.count; ++row) {
    profile->sites[row].windows = WindowsOf(row);
    AddTotals(row, &profile->sites[row]);
  }
  sums_ = {};
  std::map<DeviceIndex, size_t> scope_of;  // the host last
  for (size_t i = 0; i < peaks_.size(); ++i) {
    if (peaks_[i].shown) scope_of[peaks_[i].device] = i;
  }
  for (const auto& [device, scope] : scope_of) {
    AddMakers(peaks_[scope], profile);
    profile->devices.push_back(DeviceOf(steps_in_bin, ledger_->scopes()[scope], peaks_[scope]));
    peaks_[scope] = Peak();
  }
}

}  // namespace vramtrack
