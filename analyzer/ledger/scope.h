// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_SCOPE_H_
#define ANALYZER_LEDGER_SCOPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/page_usage.h"
#include "analyzer/ledger/segments.h"
#include "analyzer/ledger/site_table.h"

namespace vramtrack {

// Where the memory of a device is that a framework's allocator manages part of. To the byte:
// device_used = usage.live + cached + others + overhead + unattributed, where usage.live + cached = usage.reserved.
struct FrameworkShare {
  uint64_t cached = 0;        // of the segments, not given out
  uint64_t releasable = 0;    // of that, in segments without a live block
  uint64_t others = 0;        // driver memory that is no segment, as asked for
  uint64_t overhead = 0;      // of the driver's granularity
  uint64_t unattributed = 0;  // used on the device by what is not in the trace, when the job asked last
  uint64_t unplaced = 0;      // part of usage.live: blocks in memory whose allocation is not in the trace

  uint64_t UsedOnDevice(uint64_t reserved) const { return reserved + others + overhead + unattributed; }
};

// How much is used at one moment.
struct Moment {
  uint32_t step = 0;
  uint64_t ticks = 0;
  DeviceUsage usage;         // of the driver level of a device; otherwise only `live` and `reserved`
  uint64_t device_used = 0;  // with what others hold, as far as the job asked its device
  FrameworkShare framework;  // of a device with a framework's level
};

// What adds up to one total: the driver's memory of one device, a framework's blocks on it, or the host's pinned
// memory.
struct Scope {
  Level level = Level::kDriver;
  DeviceIndex device = kHost;
  uint32_t index = 0;  // of Ledger::scopes()

  uint64_t live = 0;
  uint64_t peak = 0;
  uint32_t peak_epoch = 0;                // counts how often the peak was raised
  uint64_t changes = 0, peak_change = 0;  // allocations and frees so far, and which of them reached the peak
  Moment peak_moment, end_moment;
  std::optional<Moment> step_moment;  // when the last complete step ended; none without steps
  // Lowest and highest of the present step: of a framework's level with the driver memory that is no segment.
  uint64_t floor = 0, ceiling = 0;
  std::vector<uint64_t> floors, ceilings;  // of each complete step
  PageUsage pages;                         // of the driver level of a device
  uint64_t outside = 0;                    // device memory in use that the trace does not explain, when last asked
  std::optional<uint64_t> total;           // the device's size, if the job asked

  // Of both levels of a device with a framework's level; null elsewhere.
  Segments* segments = nullptr;
  uint32_t other_level = 0;  // index of the other one
  // Framework level: as floor, of the segments and of the blocks alone.
  uint64_t reserved_floor = 0, live_floor = 0;
  std::vector<uint64_t> reserved_floors, live_floors;  // of each complete step
  uint64_t folded = 0;  // framework level: bytes of live blocks whose address is not kept
  uint64_t reserved_peak = 0, reserved_peak_change = 0;  // framework level: of segments, and as peak_change

  bool is_device() const { return level == Level::kDriver && device != kHost; }
  // The one of a device's levels that its figures in a report are about.
  bool is_leading() const { return device != kHost && (segments == nullptr || level == Level::kFramework); }
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SCOPE_H_
