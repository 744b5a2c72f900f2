// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_LOG_H_
#define TESTS_SIMCUDA_DEVICE_LOG_H_

#include <atomic>
#include <cstdint>

#include "tests/simcuda/device/options.h"

namespace vramtrack::simcuda {

// Writes a line to stderr with one write. The simulation never writes to stdout.
void LogLine(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Writes a line if SIMCUDA_LOG=1; otherwise does not evaluate the arguments.
#define SIMCUDA_LOG_CALL(...)                                                              \
  do {                                                                                     \
    if (__builtin_expect(GetOptions().log, 0)) ::vramtrack::simcuda::LogLine(__VA_ARGS__); \
  } while (0)

// The counters that SIMCUDA_STATS=1 prints when the process ends.
enum class Counter { kAllocation, kFree, kOutOfMemory, kLaunch, kCopy, kFill, kSynchronize, kMap, kUnmap, kCount };

extern std::atomic<uint64_t> counters[static_cast<int>(Counter::kCount)];

// Counts only with SIMCUDA_STATS=1, because a counter shared by all threads would be the slowest part of an allocation.
inline void Count(Counter counter) {
  if (__builtin_expect(GetOptions().stats, 0)) {
    counters[static_cast<int>(counter)].fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_LOG_H_
