// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_DEVICE_PARTS_H_
#define ANALYZER_MODEL_DEVICE_PARTS_H_

#include <cstdint>
#include <vector>

#include "analyzer/model/device.h"

namespace vramtrack {

// What a part of a device's memory is: live; in the segments of a framework's allocator and not handed out; of other
// libraries; what the driver's granularity adds; used by nobody that is traced; free.
enum class DevicePartKind : uint8_t { kLive, kCached, kOthers, kGranularity, kUnattributed, kFree };
const char* NameOf(DevicePartKind kind);  // as users read it

struct DevicePart {
  DevicePartKind kind;
  uint64_t bytes;
};

// Returns what adds up to the memory of the device now: after the last complete step, or at the end of what is
// recorded. What is free is known only with the size of the device.
std::vector<DevicePart> DeviceParts(const ReportDevice& device);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_DEVICE_PARTS_H_
