// SPDX-License-Identifier: Apache-2.0
//
// Sizes of gaps in time, for MarkGaps: two for each power of two, so that gaps of one size differ by at most half.
#ifndef PROTO_GAP_SIZES_H_
#define PROTO_GAP_SIZES_H_

#include <cstdint>

namespace vramtrack {

constexpr uint32_t kGapSizes = 129;

// Returns the size of a gap, below kGapSizes; 0 for 0 ticks.
constexpr uint32_t GapSizeOf(uint64_t ticks) {
  if (ticks == 0) return 0;
  const auto power = static_cast<uint32_t>(63 - __builtin_clzll(ticks));
  return 1 + 2 * power + (power > 0 ? static_cast<uint32_t>(ticks >> (power - 1) & 1) : 0);
}

// Returns the smallest gap of a size; `size` is below kGapSizes.
constexpr uint64_t LeastTicksOf(uint32_t size) {
  if (size == 0) return 0;
  const uint64_t power = uint64_t{1} << (size - 1) / 2;
  return size % 2 == 0 ? power + power / 2 : power;
}

}  // namespace vramtrack

#endif  // PROTO_GAP_SIZES_H_
