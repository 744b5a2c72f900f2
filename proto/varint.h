// SPDX-License-Identifier: Apache-2.0
//
// Base-128 varints as protobuf has them.
#ifndef PROTO_VARINT_H_
#define PROTO_VARINT_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

constexpr size_t kMaxVarintBytes = 10;

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

// Writes `value` and returns the end. `out` has room for kMaxVarintBytes.
inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value) | 0x80;
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// Like PutVarint, but always `width` bytes long, so that a length can be filled in later. Every protobuf parser accepts
// such a varint. `value` must fit into 7 * width bits.
inline uint8_t* PutPaddedVarint(uint8_t* out, uint64_t value, int width) {
  for (int i = 0; i < width - 1; ++i, value >>= 7) *out++ = static_cast<uint8_t>(value) | 0x80;
  *out++ = static_cast<uint8_t>(value & 0x7f);
  return out;
}

// Reads a varint from [*in, end). False, with *in unchanged, if there is none.
inline bool GetVarint(const uint8_t** in, const uint8_t* end, uint64_t* value) {
  const uint8_t* p = *in;
  uint64_t result = 0;
  for (int shift = 0; shift < 70 && p < end; shift += 7) {
    const uint8_t byte = *p++;
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      *in = p;
      return true;
    }
  }
  return false;
}

}  // namespace vramtrack

#endif  // PROTO_VARINT_H_
