// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/step_blocks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "analyzer/ledger/site_table.h"

namespace vramtrack {
namespace {

constexpr double kNearlyAllSteps = 0.9;

uint64_t At(const WindowSums& sums, size_t i) { return i < sums.size() ? sums[i] : 0; }

class BlockMaker {
 public:
  BlockMaker(const StepProfile& profile, const StepWindow& window)
      : profile_(profile),
        window_(window),
        totals_fit_(window.whole_run || profile.blocks),
        steps_in_block_(window.blocks) {
    for (size_t i = 0; i < profile_.windows(); ++i) {
      const uint64_t begin = profile_.BeginOf(i);
      const uint32_t block = window_.BlockOf(static_cast<uint32_t>(begin));
      block_of_.push_back(block);
      if (block < window_.blocks) steps_in_block_[block] += static_cast<double>(profile_.EndOf(i) - begin);
      if (begin < window_.end) counted_ = i + 1;
    }
  }

  // `members`: of a match.
  SiteSeries Series(const std::vector<size_t>& members) const {
    SiteSeries series;
    for (const auto& [to, from, per_unit] : {Column{&SiteSeries::live, &SiteWindows::live, false},
                                             {&SiteSeries::at_peak, &SiteWindows::at_peak, false},
                                             {&SiteSeries::own, &SiteWindows::own, false},
                                             {&SiteSeries::bytes, &SiteWindows::born_bytes, true},
                                             {&SiteSeries::births, &SiteWindows::births, true}}) {
      std::vector<uint64_t> sums(window_.blocks);
      for (const size_t site : members) {
        const WindowSums& windows = profile_.sites[site].windows.*from;
        for (size_t i = 0; i < windows.size() && i < block_of_.size(); ++i) {
          if (block_of_[i] < window_.blocks) sums[block_of_[i]] += windows[i];
        }
      }
      for (uint32_t i = 0; i < window_.blocks; ++i) {
        (series.*to).push_back(static_cast<double>(sums[i]) / (steps_in_block_[i] / (per_unit ? window_.per_unit : 1)));
      }
    }
    return series;
  }

  SiteTotals Totals(const std::vector<size_t>& members) const {
    SiteTotals totals;
    for (const size_t member : members) {
      const ProfileSite& site = profile_.sites[member];
      totals.several_threads |= site.several_threads;
      if (totals_fit_) {
        totals.bytes_at_peak += site.bytes_at_peak;
        totals.own_peak += site.own_peak;
        totals.live_bytes += site.live_bytes;
        totals.allocations += site.allocations;
        totals.bytes_allocated += site.bytes_allocated;
        continue;
      }
      if (const std::optional<size_t> highest = HighestWindow(site.device)) {
        totals.bytes_at_peak += At(site.windows.at_high, *highest);
      }
      uint64_t own = 0, died = 0, born = 0;
      for (size_t i = 0; i < counted_; ++i) {
        own = std::max(own, At(site.windows.own_most, i));
        born += At(site.windows.born_bytes, i);
        died += At(site.windows.died_bytes, i);
        totals.allocations += At(site.windows.births, i);
      }
      totals.own_peak += own;
      totals.live_bytes += born - died;
      totals.bytes_allocated += born;
    }
    return totals;
  }

  BlockSizes Sizes(const std::vector<size_t>& members) const {
    std::vector<BlockSizes::Size> sizes;
    bool many = false;
    for (const size_t member : members) {
      const ProfileSite& site = profile_.sites[member];
      many |= site.many_sizes;
      for (const ProfileBlockSize& size : site.sizes) {
        const auto same = std::find_if(sizes.begin(), sizes.end(),
                                       [&](const BlockSizes::Size& one) { return one.bytes == size.bytes; });
        if (same == sizes.end()) {
          sizes.push_back({size.bytes, size.count, size.exact});
        } else {
          same->count += size.count;
          same->exact += size.exact;
        }
      }
    }
    return BlockSizes(std::move(sizes), many);
  }

  DeviceSeries Device(const ProfileDevice& device, const std::vector<std::vector<size_t>>& matches) const {
    DeviceSeries series;
    const size_t bins =
        std::min<size_t>(device.peak.size(), (window_.end + device.steps_in_bin - 1) / device.steps_in_bin);
    series.steps_per_value = static_cast<uint32_t>(device.steps_in_bin);
    series.peak.assign(window_.blocks, 0);
    series.fragmentation.assign(window_.blocks, 0);
    uint64_t concurrent = 0;
    size_t highest = 0;
    for (size_t bin = 0; bin < bins; ++bin) {
      const auto step = static_cast<uint32_t>(bin * device.steps_in_bin);
      series.step_peaks.push_back(At(device.peak_sum, bin));
      if (At(device.floor, bin) != UINT64_MAX) series.floors.push_back(At(device.floor, bin));
      if (At(device.highest, bin) > At(device.highest, highest)) highest = bin;
      series.run_reserved_peak = std::max(series.run_reserved_peak, At(device.reserved_highest, bin));
      if (step >= window_.begin) concurrent += At(device.concurrent, bin);
      const uint32_t block = window_.BlockOf(step);
      if (block >= window_.blocks) continue;
      series.peak[block] += static_cast<double>(At(device.peak, bin)) / steps_in_block_[block];
      series.fragmentation[block] += static_cast<double>(At(device.fragmentation, bin)) / steps_in_block_[block];
    }
    series.run_peak = At(device.highest, highest);
    series.run_fragmentation = At(device.at_highest, highest);
    series.peak_step = static_cast<uint32_t>(highest * device.steps_in_bin);
    if (totals_fit_) {
      series.run_peak = device.run_peak;
      series.run_reserved_peak = device.run_reserved_peak;
      series.run_fragmentation = device.run_fragmentation;
      series.peak_step = static_cast<uint32_t>(device.peak_step);
    }
    series.concurrent = 2 * concurrent > window_.end - window_.begin;
    series.maker = UsualMaker(device, matches);
    return series;
  }

  double StepSize() const {
    double sum = 0, marks = 0;
    for (size_t i = 0; i < profile_.marks.size() && i < block_of_.size() && i < profile_.mark_sum.size(); ++i) {
      if (block_of_[i] >= window_.blocks) continue;
      sum += profile_.mark_sum[i];
      marks += static_cast<double>(profile_.marks[i]);
    }
    return marks == 0 ? 0 : sum / marks * window_.per_unit;
  }

 private:
  struct Column {
    std::vector<double> SiteSeries::*to;
    WindowSums SiteWindows::*from;
    bool per_unit;
  };

  // Of the compared part, the window in which a device has most.
  std::optional<size_t> HighestWindow(const std::optional<uint32_t>& device) const {
    for (const ProfileDevice& one : profile_.devices) {
      if (one.index != device) continue;
      uint64_t most = 0;
      std::optional<size_t> window;
      for (size_t bin = 0; bin < one.highest.size(); ++bin) {
        const auto in = static_cast<size_t>(bin * one.steps_in_bin / profile_.steps_in_window);
        if (in >= counted_ || (window && one.highest[bin] <= most)) continue;
        most = one.highest[bin];
        window = in;
      }
      return window;
    }
    return std::nullopt;
  }

  uint32_t UsualMaker(const ProfileDevice& device, const std::vector<std::vector<size_t>>& matches) const {
    for (size_t m = 0; m < matches.size(); ++m) {
      uint64_t made = 0;
      for (const size_t member : matches[m]) {
        const ProfileSite& site = profile_.sites[member];
        if (site.device != device.index) continue;
        for (size_t i = 0; i < counted_; ++i) {
          if (profile_.BeginOf(i) >= window_.begin) made += At(site.windows.made, i);
        }
      }
      if (made > 0 && static_cast<double>(made) >= kNearlyAllSteps * (window_.end - window_.begin)) {
        return static_cast<uint32_t>(m);
      }
    }
    return DeviceSeries::kNoMaker;
  }

  const StepProfile& profile_;
  const StepWindow& window_;
  const bool totals_fit_;           // those of the profile are of the compared part
  std::vector<uint32_t> block_of_;  // of each window
  std::vector<double> steps_in_block_;
  size_t counted_ = 0;  // windows that begin in the compared part
};

}  // namespace

ProcessProfile BlocksOf(const StepProfile& profile, const std::vector<std::vector<size_t>>& members,
                        const StepWindow& window) {
  const BlockMaker maker(profile, window);
  ProcessProfile blocks;
  blocks.window = window;
  for (const std::vector<size_t>& match : members) {
    blocks.series.push_back(maker.Series(match));
    blocks.totals.push_back(maker.Totals(match));
    blocks.sizes.push_back(maker.Sizes(match));
  }
  for (const ProfileDevice& device : profile.devices) {
    blocks.devices[device.index ? DeviceIndex(*device.index) : kHost] = maker.Device(device, members);
  }
  blocks.step_size = maker.StepSize();
  return blocks;
}

}  // namespace vramtrack
