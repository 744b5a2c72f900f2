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

class BlockMaker {
 public:
  BlockMaker(const StepProfile& profile, const StepWindow& window, double rate_scale)
      : profile_(profile),
        window_(window),
        rate_scale_(window.per_unit * rate_scale),
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
  SiteEvidence Evidence(const std::vector<size_t>& members) const {
    SiteEvidence evidence;
    evidence.present = !members.empty();
    evidence.series = Series(members);
    for (const size_t member : members) {
      const ProfileSite& site = profile_.sites[member];
      AddTotals(site, &evidence);
      evidence.sizes.Join(site.sizes);
      evidence.judged &= !site.unjudged;
      if (!site.rate) continue;
      evidence.leak = true;
      evidence.rate.Add(*site.rate, rate_scale_);
    }
    return evidence;
  }

  DeviceSeries Device(const ProfileDevice& device, const std::vector<std::vector<size_t>>& matches) const {
    DeviceSeries series;
    series.steps_per_value = static_cast<uint32_t>(device.steps_in_bin);
    series.peak.assign(window_.blocks, 0);
    series.fragmentation.assign(window_.blocks, 0);
    uint64_t concurrent = 0;
    for (size_t i = 0; i < device.bins.size() && i * device.steps_in_bin < window_.end; ++i) {
      const DeviceBin& bin = device.bins[i];
      const auto step = static_cast<uint32_t>(i * device.steps_in_bin);
      series.step_peaks.push_back(bin.peak_sum);
      if (bin.floor != UINT64_MAX) series.floors.push_back(bin.floor);
      if (i == 0 || bin.highest > series.run_peak) {
        series.run_peak = bin.highest;
        series.run_fragmentation = bin.at_highest;
        series.peak_step = step;
      }
      series.run_reserved_peak = std::max(series.run_reserved_peak, bin.reserved_highest);
      if (step >= window_.begin) concurrent += bin.concurrent;
      const uint32_t block = window_.BlockOf(step);
      if (block >= window_.blocks) continue;
      series.peak[block] += static_cast<double>(bin.peak) / steps_in_block_[block];
      series.fragmentation[block] += static_cast<double>(bin.fragmentation) / steps_in_block_[block];
    }
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
    for (size_t i = 0; i < profile_.window_steps.size(); ++i) {
      if (block_of_[i] >= window_.blocks) continue;
      sum += profile_.window_steps[i].mark_sum;
      marks += static_cast<double>(profile_.window_steps[i].marks);
    }
    return marks == 0 ? 0 : sum / marks * window_.per_unit;
  }

 private:
  SiteSeries Series(const std::vector<size_t>& members) const {
    std::vector<SiteWindow> sums(window_.blocks);
    for (const size_t member : members) {
      const std::vector<SiteWindow>& windows = profile_.sites[member].windows.sums;
      for (size_t i = 0; i < windows.size(); ++i) {
        if (block_of_[i] >= window_.blocks) continue;
        for (const auto member : {&SiteWindow::live, &SiteWindow::at_peak, &SiteWindow::own, &SiteWindow::born_bytes}) {
          sums[block_of_[i]].*member += windows[i].*member;
        }
      }
    }
    SiteSeries series;
    for (uint32_t i = 0; i < window_.blocks; ++i) {
      const double steps = steps_in_block_[i];
      series.live.push_back(static_cast<double>(sums[i].live) / steps);
      series.at_peak.push_back(static_cast<double>(sums[i].at_peak) / steps);
      series.own.push_back(static_cast<double>(sums[i].own) / steps);
      series.bytes.push_back(static_cast<double>(sums[i].born_bytes) / (steps / window_.per_unit));
    }
    return series;
  }

  void AddTotals(const ProfileSite& site, SiteEvidence* to) const {
    to->several_threads |= site.several_threads;
    if (totals_fit_) {
      to->bytes_at_peak += site.bytes_at_peak;
      to->own_peak += site.own_peak;
      return;
    }
    if (const std::optional<size_t> highest = HighestWindow(site.device)) {
      to->bytes_at_peak += site.windows.At(*highest).at_high;
    }
    uint64_t own = 0;
    for (size_t i = 0; i < counted_; ++i) own = std::max(own, site.windows.At(i).own_most);
    to->own_peak += own;
  }

  // Of the compared part, the window in which a device has most.
  std::optional<size_t> HighestWindow(const std::optional<uint32_t>& device) const {
    for (const ProfileDevice& one : profile_.devices) {
      if (one.index != device) continue;
      uint64_t most = 0;
      std::optional<size_t> window;
      for (size_t bin = 0; bin < one.bins.size(); ++bin) {
        const auto in = static_cast<size_t>(bin * one.steps_in_bin / profile_.steps_in_window);
        if (in >= counted_ || (window && one.bins[bin].highest <= most)) continue;
        most = one.bins[bin].highest;
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
          if (profile_.BeginOf(i) >= window_.begin) made += site.windows.At(i).made;
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
  const double rate_scale_;
  const bool totals_fit_;           // those of the profile are of the compared part
  std::vector<uint32_t> block_of_;  // of each window
  std::vector<double> steps_in_block_;
  size_t counted_ = 0;  // windows that begin in the compared part
};

}  // namespace

MeasuredRun Measured(const StepProfile& profile, const std::vector<std::vector<size_t>>& members,
                     const StepWindow& window, double rate_scale) {
  const BlockMaker maker(profile, window, rate_scale);
  MeasuredRun run;
  for (const std::vector<size_t>& match : members) run.sites.push_back(maker.Evidence(match));
  for (const ProfileDevice& device : profile.devices) run.devices[device.index] = maker.Device(device, members);
  run.step_size = maker.StepSize();
  return run;
}

}  // namespace vramtrack
