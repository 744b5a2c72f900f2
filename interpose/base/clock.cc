// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/clock.h"

#include "interpose/base/system_call.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vramtrack {

std::atomic<bool> Clock::cycles_{false};
uint64_t Clock::ticks_per_second_ = 1000000000;
uint32_t Clock::time_shift_ = 4;

namespace {

// The counter runs at a constant rate, in every sleep state, and the kernel trusts it across cores.
bool CyclesAreAClock() {
#if defined(__x86_64__)
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & 1u << 8)) return false;
  char source[16] = {};
  return ReadSmallFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source) >=
             3 &&
         source[0] == 't' && source[1] == 's' && source[2] == 'c';
#else
  return false;
#endif
}

}  // namespace

void Clock::Choose() { cycles_.store(CyclesAreAClock(), std::memory_order_relaxed); }

void Clock::Calibrate() {
  Choose();
  ticks_per_second_ = 1000000000;
  if (cycles_.load(std::memory_order_relaxed)) {
    const uint64_t start_ns = MonotonicNs(), start = Ticks();
    uint64_t now_ns;
    while ((now_ns = MonotonicNs()) - start_ns < 50000) {
    }
    ticks_per_second_ = (Ticks() - start) * 1000000000u / (now_ns - start_ns);
  }
  time_shift_ = 0;
  while (ticks_per_second_ >> (time_shift_ + 1) >= 1000000000u / 16) ++time_shift_;
}

}  // namespace vramtrack
