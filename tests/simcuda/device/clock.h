// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_CLOCK_H_
#define TESTS_SIMCUDA_DEVICE_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace vramtrack::simcuda {

inline int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Waits `ns` nanoseconds in a loop, because no sleep is as short as a driver call.
inline void SpinNs(int64_t ns) {
  const int64_t end = NowNs() + ns;
  while (NowNs() < end) {
  }
}

inline void SleepUntilNs(int64_t when) {
  const timespec until = {static_cast<time_t>(when / 1'000'000'000), static_cast<long>(when % 1'000'000'000)};
  while (NowNs() < when) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_CLOCK_H_
