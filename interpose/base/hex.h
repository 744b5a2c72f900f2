// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_HEX_H_
#define INTERPOSE_BASE_HEX_H_

#include <cstdint>

namespace vramtrack {

// Reads the lower-case hexadecimal digits at `*at`, as /proc/self/maps has them, and moves `*at` past them.
inline uint64_t ReadHex(const char** at, const char* end) {
  uint64_t value = 0;
  for (; *at < end; ++*at) {
    const char c = **at;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  return value;
}

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_HEX_H_
