// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/valid_profile.h"

#include <initializer_list>
#include <stdexcept>

namespace vramtrack {
namespace {

constexpr uint64_t kMostSteps = uint64_t{1} << 31;
constexpr size_t kMostBins = 1 << 16;  // of a device

void Require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

void CheckColumns(std::initializer_list<const WindowSums*> columns, size_t rows, const char* what) {
  for (const WindowSums* column : columns) Require(column->empty() || column->size() == rows, what);
}

void CheckSite(const StepProfile& profile, const ProfileSite& site) {
  const SiteWindows& sums = site.windows;
  CheckColumns({&sums.births, &sums.born_bytes, &sums.deaths, &sums.died_bytes, &sums.survivors, &sums.survivor_bytes,
                &sums.live, &sums.at_peak, &sums.own, &sums.at_high, &sums.own_most, &sums.made},
               profile.windows(), "a site's windows are not those of the run");
  Require(!site.leak || *site.leak < profile.leaks.size(), "a site of a leak that is not there");
}

void CheckDevice(const StepProfile& profile, const ProfileDevice& device) {
  Require(IsPowerOfTwo(device.steps_in_bin) && device.steps_in_bin <= profile.steps_in_window,
          "a device's bins are not parts of windows");
  const size_t bins = static_cast<size_t>((profile.steps + device.steps_in_bin - 1) / device.steps_in_bin);
  Require(bins <= kMostBins, "a device has too many bins");
  CheckColumns({&device.peak, &device.fragmentation, &device.highest, &device.reserved_highest, &device.at_highest,
                &device.floor, &device.peak_sum, &device.concurrent},
               bins, "a device's bins are not those of the run");
}

}  // namespace

void CheckProfile(const StepProfile& profile) {
  Require(profile.steps < kMostSteps && profile.warmup_end < kMostSteps, "more steps than a run has");
  Require(IsPowerOfTwo(profile.steps_in_window) && profile.windows() <= StepProfile::kMostWindows, "windows of no run");
  CheckColumns({&profile.marks}, profile.windows(), "marks of no run");
  CheckColumns({&profile.first_steps, &profile.last_steps}, profile.windows(), "steps of no run");
  Require(profile.mark_sum.empty() || profile.mark_sum.size() == profile.windows(), "marks of no run");
  for (const ProfileSite& site : profile.sites) CheckSite(profile, site);
  for (const ProfileLeak& leak : profile.leaks) {
    for (const uint64_t site : leak.leading) Require(site < profile.sites.size(), "a leak of a site that is not there");
  }
  for (const ProfileDevice& device : profile.devices) CheckDevice(profile, device);
}

}  // namespace vramtrack
