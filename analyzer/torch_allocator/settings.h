// SPDX-License-Identifier: Apache-2.0
//
// The rounding rules of PyTorch's caching allocator, and its settings. The rules are those of
// c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.0 to 2.15; docs/fragmentation.md explains them.
#ifndef ANALYZER_TORCH_ALLOCATOR_SETTINGS_H_
#define ANALYZER_TORCH_ALLOCATOR_SETTINGS_H_

#include <cstdint>

namespace vramtrack::torch_allocator {

constexpr uint64_t kMinBlockBytes = 512;
constexpr uint64_t kSmallRequestBytes = 1 << 20;  // larger requests use the large pool
constexpr uint64_t kSmallSegmentBytes = 2 << 20;
constexpr uint64_t kLargeSegmentBytes = 20 << 20;  // for requests below kOwnSegmentBytes
constexpr uint64_t kOwnSegmentBytes = 10 << 20;    // from this size on a segment is as large as its request
constexpr uint64_t kSegmentGranule = 2 << 20;

struct Settings {
  bool expandable_segments = false;
  uint32_t roundup_power2_divisions = 0;
  // Among free blocks of one size, take the one in the oldest segment, as recent versions do; otherwise the one with
  // the lowest address.
  bool oldest_first = false;
};

// Returns the bytes of the block for a request.
inline uint64_t BlockBytes(uint64_t request, uint32_t power2_divisions) {
  if (request < kMinBlockBytes) return kMinBlockBytes;
  if (power2_divisions > 1 && request > kMinBlockBytes * power2_divisions) {
    if ((request & (request - 1)) == 0) return request;
    const int top = 63 - __builtin_clzll(request);
    const uint64_t division = (uint64_t{1} << top) >> (31 - __builtin_clz(power2_divisions));
    if (division == 0) return uint64_t{2} << top;
    return (request + division - 1) & ~(division - 1);
  }
  return (request + kMinBlockBytes - 1) / kMinBlockBytes * kMinBlockBytes;
}

// Returns the size of the segment that the allocator requests from the driver if no free block has room for `bytes`.
inline uint64_t SegmentBytes(uint64_t bytes) {
  if (bytes <= kSmallRequestBytes) return kSmallSegmentBytes;
  if (bytes < kOwnSegmentBytes) return kLargeSegmentBytes;
  return (bytes + kSegmentGranule - 1) / kSegmentGranule * kSegmentGranule;
}

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_SETTINGS_H_
