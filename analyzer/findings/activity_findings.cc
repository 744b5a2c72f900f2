// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/activity_findings.h"

#include <algorithm>
#include <map>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// As schema::Kind names what it is alike to.
const char* MemoryName(uint32_t memory) {
  switch (memory) {
    case kActivityPageable:
      return "pageable";
    case kActivityPinned:
      return vramtrack::KindName(schema::PINNED);
    case kActivityDevice:
      return vramtrack::KindName(schema::DEVICE);
    case kActivityArray:
      return vramtrack::KindName(schema::ARRAY);
    case kActivityManaged:
      return vramtrack::KindName(schema::MANAGED);
    case kActivityDeviceStatic:
      return "device_static";
    case kActivityManagedStatic:
      return "managed_static";
    default:
      return "unknown";
  }
}

bool IsOnDevice(uint32_t memory) {
  return memory == kActivityDevice || memory == kActivityArray || memory == kActivityDeviceStatic;
}

}  // namespace

ReportActivities DescribeActivities(const Trace& trace, const ActivityJoin& join) {
  ReportActivities activities;
  activities.records = trace.counter(schema::COUNTER_ACTIVITIES);
  activities.dropped = trace.counter(schema::COUNTER_ACTIVITIES_DROPPED);
  activities.unwritten = trace.counter(schema::COUNTER_ACTIVITIES_UNWRITTEN);
  activities.joined = join.joined();
  activities.joined_bytes = join.joined_bytes();
  activities.other_sizes = join.other_sizes();
  for (const auto& [key, sum] : join.only_cupti()) {
    const auto& [library, memory, device] = key;
    activities.only_cupti.push_back(
        {library, MemoryName(memory), device, sum.allocations, sum.bytes, sum.live_objects, sum.live_bytes});
  }
  std::stable_sort(activities.only_cupti.begin(), activities.only_cupti.end(), [](const auto& a, const auto& b) {
    return a.live_bytes != b.live_bytes ? a.live_bytes > b.live_bytes : a.bytes > b.bytes;
  });
  for (const auto& [kind, sum] : join.only_hooks()) {
    activities.only_hooks.push_back({KindName(kind), sum.allocations, sum.bytes, join.joined_kinds().count(kind) != 0});
  }
  std::stable_sort(activities.only_hooks.begin(), activities.only_hooks.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (const ActivityGap& gap : join.gaps()) {
    activities.missing.push_back({trace.clock().Seconds(gap.begin), trace.clock().Seconds(gap.end), gap.why});
  }
  return activities;
}

void NameUnattributed(const ActivityJoin& join, std::vector<ReportDevice>* devices) {
  for (ReportDevice& device : *devices) {
    std::map<std::string, uint64_t> owners;
    uint64_t all = 0;
    for (const auto& [key, sum] : join.only_cupti()) {
      const auto& [library, memory, index] = key;
      if (index != device.index || !IsOnDevice(memory) || sum.live_bytes == 0) continue;
      owners[library] += sum.live_bytes;
      all += sum.live_bytes;
    }
    device.unattributed_owners.assign(owners.begin(), owners.end());
    std::stable_sort(device.unattributed_owners.begin(), device.unattributed_owners.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    // A job that never asked how much is free: this much is used beside what is tracked, at least.
    device.unattributed_bytes = std::max(device.unattributed_bytes, all);
  }
}

}  // namespace vramtrack
