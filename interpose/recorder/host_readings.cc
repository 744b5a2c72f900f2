// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/host_readings.h"

#include <sys/auxv.h>
#include <sys/prctl.h>

#include "interpose/base/system_call.h"

namespace vramtrack {

bool ReadHostMemory(HostMemory* memory) {
  char text[256];
  const int bytes = ReadSmallFile("/proc/self/statm", text, sizeof text);
  return bytes > 0 && ParseHostMemory(text, static_cast<size_t>(bytes), getauxval(AT_PAGESZ), memory);
}

bool ParseHostMemory(const char* text, size_t bytes, uint64_t page_bytes, HostMemory* memory) {
  uint64_t pages[3];  // size, resident, shared
  const char* at = text;
  const char* const end = text + bytes;
  for (uint64_t& number : pages) {
    while (at != end && *at == ' ') ++at;
    const char* const digits = at;
    number = 0;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) number = 10 * number + static_cast<uint64_t>(*at - '0');
    if (at == digits || at == end) return false;
  }
  *memory = {pages[1] * page_bytes, pages[2] * page_bytes};
  return true;
}

void HostReadings::Begin() { sandbox_ = prctl(PR_GET_SECCOMP, 0, 0, 0, 0); }

bool HostReadings::IsAllowed() const { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == sandbox_; }

bool HostReadings::Take(uint64_t next, uint64_t ticks, uint64_t ticks_per_second) {
  if (next == 0) first_.store(ticks, std::memory_order_relaxed);
  const uint64_t first = first_.load(std::memory_order_relaxed);
  const uint64_t shortest = ticks_per_second / kFirstsPerSecond,
                 part = ticks > first ? (ticks - first) / kPartOfRun : 0;
  return next_.compare_exchange_strong(next, ticks + (part > shortest ? part : shortest), std::memory_order_relaxed);
}

}  // namespace vramtrack
