// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device_parts.h"

namespace vramtrack {

const char* NameOf(DevicePartKind kind) {
  static constexpr const char* kNames[] = {"live", "cached", "others", "granularity", "unattributed", "free"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<DevicePart> DeviceParts(const ReportDevice& device) {
  const ReportMoment& now = device.LastMoment();
  std::vector<DevicePart> parts = {{DevicePartKind::kLive, now.live}};
  if (now.framework) {
    parts.push_back({DevicePartKind::kCached, now.framework->cached});
    parts.push_back({DevicePartKind::kOthers, now.framework->others + now.framework->overhead});
    parts.push_back({DevicePartKind::kUnattributed, now.framework->unattributed});
  } else {
    parts.push_back({DevicePartKind::kGranularity, now.reserved > now.live ? now.reserved - now.live : 0});
    parts.push_back(
        {DevicePartKind::kUnattributed, now.device_used > now.reserved ? now.device_used - now.reserved : 0});
  }
  uint64_t used = 0;
  for (const DevicePart& part : parts) used += part.bytes;
  if (device.total_bytes > used) parts.push_back({DevicePartKind::kFree, device.total_bytes - used});
  return parts;
}

}  // namespace vramtrack
