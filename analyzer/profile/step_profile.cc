// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/step_profile.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace vramtrack {
namespace {

// Empty stays empty: 0 is what all of these make of zeros.
template <class Values, class Join>
void JoinPairs(Join join, Values* values) {
  const size_t size = values->size();
  for (size_t i = 0; 2 * i < size; ++i) {
    (*values)[i] = 2 * i + 1 < size ? join((*values)[2 * i], (*values)[2 * i + 1]) : (*values)[2 * i];
  }
  values->resize((size + 1) / 2);
}

// Where windows are fewer than they could be.
constexpr size_t kBinsInWindow = 4;

uint64_t Sum(uint64_t a, uint64_t b) { return a + b; }
uint64_t Most(uint64_t a, uint64_t b) { return std::max(a, b); }
uint64_t Least(uint64_t a, uint64_t b) { return std::min(a, b); }

// What a column has at the higher of two moments; of equal ones the first.
void JoinAtHigher(const WindowSums& highest, WindowSums* values) {
  const size_t size = values->size();
  for (size_t i = 0; 2 * i < size; ++i) {
    const bool second = 2 * i + 1 < size && highest[2 * i + 1] > highest[2 * i];
    (*values)[i] = (*values)[2 * i + (second ? 1 : 0)];
  }
  values->resize((size + 1) / 2);
}

// The highest peak of each window of the site's device.
WindowSums HighestOf(const StepProfile& profile, const std::optional<uint32_t>& device) {
  WindowSums highest(profile.windows());
  for (const ProfileDevice& one : profile.devices) {
    if (one.index != device) continue;
    for (size_t bin = 0; bin < one.highest.size(); ++bin) {
      uint64_t& window = highest[static_cast<size_t>(bin * one.steps_in_bin / profile.steps_in_window)];
      window = std::max(window, one.highest[bin]);
    }
  }
  return highest;
}

void HalveBins(ProfileDevice* device) {
  JoinAtHigher(device->highest, &device->at_highest);
  for (WindowSums* sums : {&device->peak, &device->fragmentation, &device->peak_sum, &device->concurrent}) {
    JoinPairs(Sum, sums);
  }
  for (WindowSums* most : {&device->highest, &device->reserved_highest}) JoinPairs(Most, most);
  JoinPairs(Least, &device->floor);
  device->steps_in_bin *= 2;
}

void HalveWindows(StepProfile* profile) {
  std::vector<WindowSums> highest;
  for (const ProfileDevice& device : profile->devices) highest.push_back(HighestOf(*profile, device.index));
  for (ProfileSite& site : profile->sites) {
    SiteWindows& sums = site.windows;
    for (size_t i = 0; i < profile->devices.size(); ++i) {
      if (profile->devices[i].index == site.device) JoinAtHigher(highest[i], &sums.at_high);
    }
    for (WindowSums* values : {&sums.births, &sums.born_bytes, &sums.deaths, &sums.died_bytes, &sums.survivors,
                               &sums.survivor_bytes, &sums.live, &sums.at_peak, &sums.own, &sums.made}) {
      JoinPairs(Sum, values);
    }
    JoinPairs(Most, &sums.own_most);
  }
  JoinPairs([](double a, double b) { return a + b; }, &profile->mark_sum);
  JoinPairs(Sum, &profile->marks);
  JoinPairs([](uint64_t a, uint64_t) { return a; }, &profile->first_steps);
  JoinPairs([](uint64_t, uint64_t b) { return b; }, &profile->last_steps);
  profile->steps_in_window *= 2;
}

void KeepSites(size_t most, StepProfile* profile) {
  std::vector<ProfileSite>& sites = profile->sites;
  if (sites.size() <= most) return;
  std::vector<size_t> order(sites.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&sites](size_t a, size_t b) {
    const auto key = [](const ProfileSite& site) {
      return std::make_tuple(!site.leak.has_value(), !site.rate.has_value(), ~site.bytes_allocated, site.number);
    };
    return key(sites[a]) < key(sites[b]);
  });
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<std::optional<uint64_t>> moved(sites.size());
  std::vector<ProfileSite> kept;
  kept.reserve(most);
  for (const size_t i : order) {
    moved[i] = kept.size();
    kept.push_back(std::move(sites[i]));
  }
  profile->other_sites += sites.size() - kept.size();
  sites = std::move(kept);
  for (ProfileLeak& leak : profile->leaks) {
    std::vector<uint64_t> leading;
    for (const uint64_t site : leak.leading) {
      if (site < moved.size() && moved[site]) leading.push_back(*moved[site]);
    }
    leak.leading = std::move(leading);
  }
}

WindowSums Difference(size_t windows, const WindowSums& born, const WindowSums& died) {
  WindowSums left(windows);
  uint64_t now = 0;
  for (size_t i = 0; i < windows; ++i) {
    if (i < born.size()) now += born[i];
    if (i < died.size()) now -= died[i];
    left[i] = now;
  }
  return left;
}

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

WindowSums LiveAtEnds(const StepProfile& profile, const SiteWindows& site) {
  return Difference(profile.windows(), site.born_bytes, site.died_bytes);
}

WindowSums ObjectsAtEnds(const StepProfile& profile, const SiteWindows& site) {
  return Difference(profile.windows(), site.births, site.deaths);
}

void Reduce(size_t windows, size_t sites, StepProfile* profile) {
  KeepSites(sites, profile);
  while (profile->windows() > windows) HalveWindows(profile);
  if (windows >= StepProfile::kMostWindows) return;
  for (ProfileDevice& device : profile->devices) {
    while (device.highest.size() > kBinsInWindow * windows) HalveBins(&device);
  }
}

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
