// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/statistics.h"

#include <cinttypes>
#include <cstdlib>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/log.h"

namespace vramtrack::simcuda {
namespace {

uint64_t Total(Counter counter) { return counters[static_cast<int>(counter)].load(); }

void Print() {
  if (IsForkedChild()) return;
  LogLine("%" PRIu64 " allocations, %" PRIu64 " frees, %" PRIu64 " out of memory, %" PRIu64 " launches, %" PRIu64
          " copies, %" PRIu64 " fills, %" PRIu64 " synchronizations, %" PRIu64 " maps, %" PRIu64 " unmaps",
          Total(Counter::kAllocation), Total(Counter::kFree), Total(Counter::kOutOfMemory), Total(Counter::kLaunch),
          Total(Counter::kCopy), Total(Counter::kFill), Total(Counter::kSynchronize), Total(Counter::kMap),
          Total(Counter::kUnmap));
  for (int ordinal = 0; ordinal < DeviceCount(); ++ordinal) {
    DeviceMemory& memory = GetDevice(ordinal).memory;
    size_t count = 0, bytes = 0;
    memory.ForEachAllocation([&](char*, size_t size) {
      ++count;
      bytes += size;
    });
    LogLine("device %d: %zu of %zu bytes in use; %zu linear allocations of %zu bytes", ordinal, memory.used_bytes(),
            memory.total_bytes(), count, bytes);
  }
}

}  // namespace

void PrintStatisticsAtExit() {
  if (GetOptions().stats) atexit(Print);
}

}  // namespace vramtrack::simcuda
