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

// The parts of the memory of a device with a framework level, in bytes. These equations are exact:
// device_used = usage.live + cached + others + overhead + unattributed, where usage.live + cached = usage.reserved.
struct FrameworkShare {
  uint64_t cached = 0;        // in segments, but not in live blocks
  uint64_t releasable = 0;    // part of `cached`: in segments without a live block
  uint64_t others = 0;        // driver memory outside segments, as requested
  uint64_t overhead = 0;      // caused by the driver's granularity
  uint64_t unattributed = 0;  // in use on the device but not in the trace, when the job last queried the device
  uint64_t unplaced = 0;      // part of usage.live: blocks in memory whose allocation is not in the trace

  uint64_t UsedOnDevice(uint64_t reserved) const { return reserved + others + overhead + unattributed; }
};

// The memory in use at one moment.
struct Moment {
  uint32_t step = 0;
  uint64_t ticks = 0;
  DeviceUsage usage;         // complete for the driver level of a device; elsewhere only `live` and `reserved`
  uint64_t device_used = 0;  // includes memory of others, if the job queried the device
  FrameworkShare framework;  // only for a device with a framework level
};

// One total: the driver's memory of one device, a framework's blocks on it, or the pinned memory of the host. Sizes are
// in bytes.
struct Scope {
  Level level = Level::kDriver;
  DeviceIndex device = kHost;
  uint32_t index = 0;  // into Ledger::scopes()

  uint64_t live = 0;
  uint64_t peak = 0;
  uint32_t peak_epoch = 0;                // counts how often the peak was raised
  uint64_t changes = 0, peak_change = 0;  // allocations and frees so far, and which of them reached the peak
  Moment peak_moment, end_moment;
  std::optional<Moment> step_moment;  // the end of the last complete step; none without steps
  // Lowest and highest level of the present step. A framework level includes the driver memory outside segments.
  uint64_t floor = 0, ceiling = 0;
  std::vector<uint64_t> floors, ceilings;    // of each complete step
  PageUsage pages;                           // of the driver level of a device
  uint64_t outside = 0;                      // in use on the device but not in the trace, at the job's last query
  uint64_t asked_ticks = 0, asked_used = 0;  // when that was, 0: never; and what was in use of the device by anybody
  std::optional<uint64_t> total;             // the device's size, if the job queried it

  // Set for both levels of a device, or of the host, with a framework level; null elsewhere. Owned by the ledger.
  Segments* segments = nullptr;
  uint32_t other_level = 0;  // index of the other one
  // Framework level: like `floor`, for the segments alone and for the blocks alone.
  uint64_t reserved_floor = 0, live_floor = 0;
  std::vector<uint64_t> reserved_floors, live_floors;  // of each complete step
  bool by_handle = false;                              // framework level: see schema.Allocator
  uint64_t folded = 0;  // framework level: bytes of live blocks whose address is not kept
  // Framework level: the peak of the segments' bytes, and the change that reached it (like `peak_change`).
  uint64_t reserved_peak = 0, reserved_peak_change = 0;

  bool is_device() const { return level == Level::kDriver && device != kHost; }
  // Returns whether a report takes the figures of the device, or of pinned memory, from this level.
  bool is_total() const { return segments == nullptr || level == Level::kFramework; }
  // The same, for devices alone.
  bool is_leading() const { return device != kHost && is_total(); }
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SCOPE_H_
