// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_devices.h"

#include <algorithm>
#include <string>
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

uint64_t HeightOf(const ReportTimeline& timeline) {
  const std::vector<uint64_t>& high = timeline.live.high;
  return high.empty() ? 0 : *std::max_element(high.begin(), high.end());
}
uint64_t HeightOf(const ReportPeakLines& lines) { return lines.live; }
uint64_t HeightOf(const ReportPeakStacks& stacks) { return stacks.live; }

bool IsEmpty(const ReportTimeline& timeline) { return timeline.live.high.empty(); }
bool IsEmpty(const ReportPeakLines&) { return false; }
bool IsEmpty(const ReportPeakStacks&) { return false; }

// Whether what `process` has comes into the place of what another one has.
bool IsToBeShown(uint64_t bytes, const JobProcess& process, uint64_t other_bytes, const JobProcess* other) {
  return other == nullptr || bytes > other_bytes || (bytes == other_bytes && IsBefore(process, *other));
}

template <class Picture>
void Put(const SiteNamer& id, Picture* picture, std::vector<Picture>* to) {
  RenameSites(id, picture);
  to->push_back(std::move(*picture));
}

}  // namespace

template <class Picture>
void JobDevices::TakeHigher(const JobProcess& process, const SiteNamer& joined, std::vector<Picture>* from,
                            OfHost<Picture>* highest) {
  for (Picture& picture : *from) {
    if (picture.device || IsEmpty(picture)) continue;
    const uint64_t height = HeightOf(picture);
    if (!IsToBeShown(height, process, highest->height, highest->of)) continue;
    RenameSites(joined, &picture);
    highest->of = &process;
    highest->height = height;
    highest->picture = std::move(picture);
  }
}

void JobDevices::Add(const JobProcess& process, const SiteNamer& joined, ProcessFindings* findings) {
  for (ReportDevice& device : findings->devices) {
    Shown& shown = devices_[device.index];
    shown.users += device.peak.reserved > 0;
    if (!IsToBeShown(device.peak.reserved, process, shown.device.peak.reserved, shown.of)) continue;
    RenameSites(joined, &device);
    shown.of = &process;
    shown.pictures = {Take(device.index, joined, &findings->timeline),
                      Take(device.index, joined, &findings->peak_lines),
                      Take(device.index, joined, &findings->peak_stacks)};
    shown.device = std::move(device);
  }
  TakeHigher(process, joined, &findings->timeline, &host_);
  TakeHigher(process, joined, &findings->peak_lines, &host_lines_);
  TakeHigher(process, joined, &findings->peak_stacks, &host_stacks_);
}

void JobDevices::Finish(const SiteNamer& id, Report* report) {
  uint64_t numbers = 0, least = UINT64_MAX, most = 0;  // of the numbers that several processes used, and by how many
  const Shown* shared = nullptr;
  uint32_t number = 0;  // of it
  for (auto& [index, shown] : devices_) {
    shown.device.rank = shown.of->process.rank;
    shown.device.pid = shown.of->process.pid;
    shown.device.processes = shown.users;
    Put(id, &shown.device, &report->devices);
    for (ReportTimeline& timeline : shown.pictures.timeline) Put(id, &timeline, &report->timeline);
    for (ReportPeakLines& lines : shown.pictures.lines) Put(id, &lines, &report->peak_lines);
    for (ReportPeakStacks& stacks : shown.pictures.stacks) Put(id, &stacks, &report->peak_stacks);
    if (shown.users < 2) continue;
    ++numbers;
    shared = &shown;
    number = index;
    least = std::min(least, shown.users);
    most = std::max(most, shown.users);
  }
  if (host_.of != nullptr) Put(id, &host_.picture, &report->timeline);
  if (host_lines_.of != nullptr) Put(id, &host_lines_.picture, &report->peak_lines);
  if (host_stacks_.of != nullptr) Put(id, &host_stacks_.picture, &report->peak_stacks);
  if (numbers == 1) {
    report->warnings.push_back(absl::StrCat(most, " processes used a device with number ", number,
                                            ": its figures are those of process ", shared->of->process.pid,
                                            ", which held the most"));
  } else if (numbers > 1) {
    report->warnings.push_back(absl::StrCat(
        numbers, " numbers of devices were used by ", least == most ? "" : absl::StrCat(least, " to "), most,
        " processes each: the figures of a device are those of the process which held the most of it"));
  }
}

}  // namespace vramtrack
