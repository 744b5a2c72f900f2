// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_SCOPE_H_
#define ANALYZER_LEDGER_SCOPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/fragmentation/page_usage.h"
#include "analyzer/ledger/site_table.h"

namespace vramtrack {

// How much is used at one moment.
struct Moment {
  uint32_t step = 0;
  uint64_t ticks = 0;
  DeviceUsage usage;         // of the driver level of a device; otherwise only `live`
  uint64_t device_used = 0;  // with what others hold, as far as the job asked its device
};

// What adds up to one total: the driver's memory of one device, a framework's blocks on it, or the host's pinned
// memory.
struct Scope {
  Level level = Level::kDriver;
  uint32_t device = SiteKey::kHost;

  uint64_t live = 0;
  uint64_t peak = 0;
  uint32_t peak_epoch = 0;                // counts how often the peak was raised
  uint64_t changes = 0, peak_change = 0;  // allocations and frees so far, and which of them reached the peak
  Moment peak_moment, end_moment;
  uint64_t floor = 0, ceiling = 0;         // lowest and highest of the present step
  std::vector<uint64_t> floors, ceilings;  // of each complete step
  PageUsage pages;                         // of the driver level of a device
  uint64_t outside = 0;                    // device memory in use that the trace does not explain, when last asked
  std::optional<uint64_t> total;           // the device's size, if the job asked
  size_t timeline_row = 0;

  bool is_device() const { return level == Level::kDriver && device != SiteKey::kHost; }
};

// An allocation that failed for lack of memory.
struct OutOfMemory {
  uint32_t step = 0;
  uint64_t ticks = 0;
  uint32_t device = 0, stack = 0;  // stack: distinct
  uint64_t requested = 0;
  DeviceUsage usage;
  uint64_t outside = 0;
  std::vector<std::pair<uint32_t, uint64_t>> holders;  // site, bytes live then; the largest first
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SCOPE_H_
