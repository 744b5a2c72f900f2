// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/job_devices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

// Those of a device.
template <class Picture>
std::vector<Picture> Take(uint32_t device, const SiteNamer& joined, std::vector<Picture>* from) {
  std::vector<Picture> taken;
  for (Picture& picture : *from) {
    if (picture.device != device) continue;
    RenameSites(joined, &picture);
    taken.push_back(std::move(picture));
  }
  return taken;
}

// Puts one of the host in the place of another that is lower.
template <class Picture, class Height>
void TakeHigher(const SiteNamer& joined, Height height, std::vector<Picture>* from, std::optional<Picture>* highest) {
  for (Picture& picture : *from) {
    if (picture.device || (*highest && height(picture) <= height(**highest))) continue;
    RenameSites(joined, &picture);
    *highest = std::move(picture);
  }
}

template <class Picture>
void Put(const SiteNamer& id, Picture* picture, std::vector<Picture>* to) {
  RenameSites(id, picture);
  to->push_back(std::move(*picture));
}

}  // namespace

void JobDevices::Add(const SiteNamer& joined, ProcessFindings* findings) {
  for (ReportDevice& device : findings->devices) {
    const auto [found, is_new] = devices_.try_emplace(device.index);
    Shown& shown = found->second;
    shown.users += device.peak.reserved > 0;
    if (!is_new && device.peak.reserved <= shown.device.peak.reserved) continue;
    RenameSites(joined, &device);
    shown.pid = findings->process.pid;
    shown.pictures = {Take(device.index, joined, &findings->timeline),
                      Take(device.index, joined, &findings->peak_lines),
                      Take(device.index, joined, &findings->peak_stacks)};
    shown.device = std::move(device);
  }
  const auto is_empty = [](const ReportTimeline& timeline) { return timeline.live.high.empty(); };
  std::vector<ReportTimeline>& timelines = findings->timeline;
  timelines.erase(std::remove_if(timelines.begin(), timelines.end(), is_empty), timelines.end());
  TakeHigher(
      joined,
      [](const ReportTimeline& timeline) {
        return *std::max_element(timeline.live.high.begin(), timeline.live.high.end());
      },
      &timelines, &host_);
  TakeHigher(
      joined, [](const ReportPeakLines& lines) { return lines.live; }, &findings->peak_lines, &host_lines_);
  TakeHigher(
      joined, [](const ReportPeakStacks& stacks) { return stacks.live; }, &findings->peak_stacks, &host_stacks_);
}

void JobDevices::Finish(const SiteNamer& id, Report* report) {
  for (auto& [index, shown] : devices_) {
    Put(id, &shown.device, &report->devices);
    for (ReportTimeline& timeline : shown.pictures.timeline) Put(id, &timeline, &report->timeline);
    for (ReportPeakLines& lines : shown.pictures.lines) Put(id, &lines, &report->peak_lines);
    for (ReportPeakStacks& stacks : shown.pictures.stacks) Put(id, &stacks, &report->peak_stacks);
    if (shown.users > 1) {
      report->warnings.push_back(absl::StrCat(shown.users, " processes used a device with number ", index,
                                              ": its figures are those of process ", shown.pid,
                                              ", which held the most"));
    }
  }
  if (host_) Put(id, &*host_, &report->timeline);
  if (host_lines_) Put(id, &*host_lines_, &report->peak_lines);
  if (host_stacks_) Put(id, &*host_stacks_, &report->peak_stacks);
}

}  // namespace vramtrack
