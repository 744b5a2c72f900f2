// SPDX-License-Identifier: Apache-2.0
//
// The clock of events. It reads the processor's cycle counter if that is a reliable clock, because the counter costs a
// third of clock_gettime.
#ifndef INTERPOSE_BASE_CLOCK_H_
#define INTERPOSE_BASE_CLOCK_H_

#include <time.h>

#include <atomic>
#include <cstdint>

namespace vramtrack {

inline uint64_t ClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }
inline uint64_t RealtimeNs() { return ClockNs(CLOCK_REALTIME); }
// Returns the processor time that the calling thread has used.
inline uint64_t ThreadCpuNs() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }

// Thread-safe after Calibrate.
class Clock {
 public:
  // Chooses the source like Calibrate, for callers that need ticks earlier; takes about 10 microseconds. A thread that
  // has called neither cannot rely on the source of Ticks.
  static void Choose();
  // Chooses the source and measures its frequency; takes about 50 microseconds.
  static void Calibrate();

  static uint64_t Ticks() {
#if defined(__x86_64__)
    if (__builtin_expect(cycles_.load(std::memory_order_relaxed), 1)) return __builtin_ia32_rdtsc();
#endif
    return SystemTicks();
  }
  static uint64_t ticks_per_second() { return ticks_per_second_; }
  // Events are kept in units of 2^time_shift ticks, 8 to 16 ns.
  static uint32_t time_shift() { return time_shift_; }

 private:
  __attribute__((noinline)) static uint64_t SystemTicks() { return MonotonicNs(); }

  static std::atomic<bool> cycles_;
  static uint64_t ticks_per_second_;
  static uint32_t time_shift_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_CLOCK_H_
