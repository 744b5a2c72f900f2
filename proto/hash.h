// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_HASH_H_
#define PROTO_HASH_H_

#include <cstdint>

namespace vramtrack {

constexpr uint64_t kHashMultiplier = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio

// Adds `value` to a hash. Order matters, and values that differ by few bits do not cancel each other out.
inline uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kHashMultiplier;
  return hash ^ hash >> 29;
}

}  // namespace vramtrack

#endif  // PROTO_HASH_H_
