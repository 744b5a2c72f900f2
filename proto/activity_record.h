// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_ACTIVITY_RECORD_H_
#define PROTO_ACTIVITY_RECORD_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// One activity record, of any release of CUPTI. Fields that its kind does not have are 0.
struct ActivityRecord {
  uint32_t kind = 0;       // schema::ActivityKind
  uint32_t operation = 0;  // of that kind
  uint32_t memory = 0;     // kind of memory, as CUPTI numbers them
  uint32_t device = 0, stream = 0;
  uint32_t correlation = 0;
  uint32_t text = 0;  // id
  uint64_t start_ns = 0, duration_ns = 0;
  uint64_t address = 0, bytes = 0, pool = 0;
};

// Numbers as CUPTI defines them.
enum ActivityMemoryOperation : uint32_t { kActivityAllocated = 1, kActivityReleased = 2 };
enum ActivityMemory : uint32_t {
  kActivityPageable = 1,
  kActivityPinned = 2,
  kActivityDevice = 3,
  kActivityArray = 4,
  kActivityManaged = 5,
  kActivityDeviceStatic = 6,
  kActivityManagedStatic = 7,
};

// The last kind with a duration, in traces of older versions.
constexpr uint32_t kActivityOldUnifiedMemory = 10;

constexpr bool HasAddress(uint32_t kind) {
  return kind == schema::ACTIVITY_MEMORY || kind == schema::ACTIVITY_MEMORY_POOL || kind == kActivityOldUnifiedMemory;
}
constexpr bool TakesTime(uint32_t kind) { return kind >= schema::ACTIVITY_KERNEL && kind <= kActivityOldUnifiedMemory; }

}  // namespace vramtrack

#endif  // PROTO_ACTIVITY_RECORD_H_
