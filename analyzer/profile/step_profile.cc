// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/step_profile.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace vramtrack {
namespace {

// Where windows are fewer than they could be.
constexpr size_t kBinsInWindow = 4;

// Joins rows in pairs with join(index of the first, first, second); of an odd number the last one stays.
template <class Row, class Join>
void JoinPairs(Join join, std::vector<Row>* rows) {
  const size_t size = rows->size();
  for (size_t i = 0; i < size; i += 2) {
    (*rows)[i / 2] = i + 1 < size ? join(i, (*rows)[i], (*rows)[i + 1]) : (*rows)[i];
  }
  rows->resize((size + 1) / 2);
}

// The highest peak of each window of the site's device.
std::vector<uint64_t> HighestOf(const StepProfile& profile, const ProfileDevice& device) {
  std::vector<uint64_t> highest(profile.windows());
  for (size_t bin = 0; bin < device.bins.size(); ++bin) {
    uint64_t& window = highest[static_cast<size_t>(bin * device.steps_in_bin / profile.steps_in_window)];
    window = std::max(window, device.bins[bin].highest);
  }
  return highest;
}

// `second_is_higher`: the device's peak in the second window is above that in the first.
SiteWindow Joined(const SiteWindow& a, const SiteWindow& b, bool second_is_higher) {
  SiteWindow sum = a;
  for (const auto member : {&SiteWindow::births, &SiteWindow::born_bytes, &SiteWindow::deaths, &SiteWindow::died_bytes,
                            &SiteWindow::survivors, &SiteWindow::survivor_bytes, &SiteWindow::live,
                            &SiteWindow::at_peak, &SiteWindow::own, &SiteWindow::made}) {
    sum.*member += b.*member;
  }
  sum.own_most = std::max(a.own_most, b.own_most);
  if (second_is_higher) sum.at_high = b.at_high;
  return sum;
}

DeviceBin Joined(const DeviceBin& a, const DeviceBin& b) {
  DeviceBin sum = a;
  for (const auto member :
       {&DeviceBin::peak, &DeviceBin::fragmentation, &DeviceBin::peak_sum, &DeviceBin::concurrent}) {
    sum.*member += b.*member;
  }
  if (b.highest > a.highest) {
    sum.highest = b.highest;
    sum.at_highest = b.at_highest;
  }
  sum.reserved_highest = std::max(a.reserved_highest, b.reserved_highest);
  sum.floor = std::min(a.floor, b.floor);
  return sum;
}

void HalveBins(ProfileDevice* device) {
  JoinPairs([](size_t, const DeviceBin& a, const DeviceBin& b) { return Joined(a, b); }, &device->bins);
  device->steps_in_bin *= 2;
}

void HalveWindows(StepProfile* profile) {
  std::map<std::optional<uint32_t>, std::vector<uint64_t>> highest;
  for (const ProfileDevice& device : profile->devices) highest[device.index] = HighestOf(*profile, device);
  for (ProfileSite& site : profile->sites) {
    const auto of_device = highest.find(site.device);
    const auto join = [&](size_t i, const SiteWindow& a, const SiteWindow& b) {
      const bool higher = of_device != highest.end() && of_device->second[i + 1] > of_device->second[i];
      return Joined(a, b, higher);
    };
    JoinPairs(join, &site.windows.sums);
  }
  const auto join = [](size_t, const WindowSteps& a, const WindowSteps& b) {
    return WindowSteps{a.first, b.last, a.mark_sum + b.mark_sum, a.marks + b.marks};
  };
  JoinPairs(join, &profile->window_steps);
  profile->steps_in_window *= 2;
}

constexpr uint64_t kMostSteps = uint64_t{1} << 31;
constexpr size_t kMostBins = 1 << 16;  // of a device

void Require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// `rows` may be none at all.
template <class Row>
void CheckRows(const std::vector<Row>& rows, size_t count, const char* what) {
  Require(rows.empty() || rows.size() == count, what);
}

}  // namespace

void ReadFrames(StepProfile* profile) {
  std::set<uint32_t> devices;
  for (const ProfileSite& site : profile->sites) {
    if (site.device) devices.insert(*site.device);
  }
  std::map<std::optional<uint32_t>, uint32_t> ordinals = {{std::nullopt, UINT32_MAX}};
  for (const uint32_t device : devices) ordinals.emplace(device, static_cast<uint32_t>(ordinals.size() - 1));
  for (ProfileSite& site : profile->sites) {
    site.device_ordinal = ordinals.at(site.device);
    for (const ReportFrame& frame : site.frames) site.canonical.push_back(Canonical(frame, profile->roots));
    for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
      site.position.push_back(frame->line != 0 ? frame->line : frame->offset);
    }
  }
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

void Reduce(size_t windows, size_t sites, StepProfile* profile) {
  KeepSites(sites, profile);
  while (profile->windows() > windows) HalveWindows(profile);
  if (windows >= StepProfile::kMostWindows) return;
  for (ProfileDevice& device : profile->devices) {
    while (device.bins.size() > kBinsInWindow * windows) HalveBins(&device);
  }
}

void CheckProfile(const StepProfile& profile) {
  Require(profile.steps < kMostSteps && profile.warmup_end < kMostSteps, "more steps than a run has");
  Require(IsPowerOfTwo(profile.steps_in_window) && profile.windows() <= StepProfile::kMostWindows, "windows of no run");
  CheckRows(profile.window_steps, profile.windows(), "windows of no run");
  for (const ProfileSite& site : profile.sites) {
    CheckRows(site.windows.sums, profile.windows(), "a site's windows are not those of the run");
    Require(!site.leak || *site.leak < profile.leaks.size(), "a site of a leak that is not there");
  }
  for (const ProfileLeak& leak : profile.leaks) {
    for (const uint64_t site : leak.leading) Require(site < profile.sites.size(), "a leak of a site that is not there");
  }
  for (const ProfileDevice& device : profile.devices) {
    Require(IsPowerOfTwo(device.steps_in_bin) && device.steps_in_bin <= profile.steps_in_window,
            "a device's bins are not parts of windows");
    const size_t bins = static_cast<size_t>((profile.steps + device.steps_in_bin - 1) / device.steps_in_bin);
    Require(bins <= kMostBins, "a device has too many bins");
    CheckRows(device.bins, bins, "a device's bins are not those of the run");
  }
}

}  // namespace vramtrack
