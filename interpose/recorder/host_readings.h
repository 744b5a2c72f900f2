// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_HOST_READINGS_H_
#define INTERPOSE_RECORDER_HOST_READINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramtrack {

// The memory of the host that this process has, in bytes.
struct HostMemory {
  uint64_t resident, shared;  // `shared` is the part of `resident` that files and other processes share
};

// Reads /proc/self/statm (proc(5)) with three system calls, which take 2 to 5 us in all. Returns false if there is no
// such file. Async-signal-safe; may change errno.
bool ReadHostMemory(HostMemory* memory);
// Parses the first `bytes` bytes of that file. Returns false if they are not its text.
bool ParseHostMemory(const char* text, size_t bytes, uint64_t page_bytes, HostMemory* memory);

// Decides when the next reading is due: 10 ms after the previous one at first, later after a thousandth of the time
// since the first one. A run of any length has at most some ten thousand readings, and its steps have at least some
// hundred. Thread-safe and async-signal-safe. Zero-initialised memory is a valid object.
class HostReadings {
 public:
  // Call it before the first reading, when the process may still open files.
  void Begin();
  // Returns whether the caller should take a reading now. Of several callers at the same time, one should.
  bool IsDue(uint64_t ticks, uint64_t ticks_per_second) {
    uint64_t next = next_.load(std::memory_order_relaxed);
    if (__builtin_expect(ticks < next, 1)) return false;
    return Take(next, ticks, ticks_per_second);
  }
  // Returns whether the process may still open files as it did at Begin: a sandbox that was entered since might kill
  // it.
  bool IsAllowed() const;
  // No reading is due any more.
  void GiveUp() { next_.store(UINT64_MAX, std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kFirstsPerSecond = 100, kPartOfRun = 1024;

  bool Take(uint64_t next, uint64_t ticks, uint64_t ticks_per_second);

  std::atomic<uint64_t> next_, first_;  // in ticks; 0 before the first reading
  int sandbox_;                         // the mode of seccomp at Begin
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_HOST_READINGS_H_
