// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/timeline_reduction.h"

#include <algorithm>
#include <optional>

namespace vramtrack {
namespace {

void Drop(const std::optional<uint32_t>& device, ProcessFindings* from) {
  std::vector<ReportTimeline>& timelines = from->timeline;
  timelines.erase(std::remove_if(timelines.begin(), timelines.end(),
                                 [&](const ReportTimeline& timeline) { return timeline.device == device; }),
                  timelines.end());
  timelines.shrink_to_fit();
}

}  // namespace

void TimelineReduction::OnAdded(std::vector<ProcessFindings>* processes) {
  const size_t added = processes->size() - 1;
  ProcessFindings& findings = processes->back();
  for (const ReportDevice& device : findings.devices) {
    const auto [best, is_first] = best_.try_emplace(device.index, Best{added, device.peak.reserved});
    if (is_first) continue;
    const bool better = device.peak.reserved > best->second.bytes;
    Drop(device.index, better ? &(*processes)[best->second.process] : &findings);
    if (better) best->second = {added, device.peak.reserved};
  }
  for (const ReportTimeline& timeline : findings.timeline) {
    if (timeline.device || timeline.live.high.empty()) continue;
    const uint64_t highest = *std::max_element(timeline.live.high.begin(), timeline.live.high.end());
    const bool better = !has_host_ || highest > host_.bytes;
    if (has_host_) Drop(std::nullopt, better ? &(*processes)[host_.process] : &findings);
    if (better) host_ = {added, highest};
    has_host_ = true;
    break;  // there is one
  }
}

}  // namespace vramtrack
