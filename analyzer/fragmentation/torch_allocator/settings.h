// SPDX-License-Identifier: Apache-2.0
//
// How PyTorch's caching allocator rounds, and what of that its users can set. The rules are those of
// c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.0 to 2.15; docs/fragmentation.md tells them in words.
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SETTINGS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SETTINGS_H_

#include <cstdint>

namespace vramtrack::torch_allocator {

constexpr uint64_t kMinBlockBytes = 512;
constexpr uint64_t kSmallRequestBytes = 1 << 20;  // larger ones are of the large pool
constexpr uint64_t kSmallSegmentBytes = 2 << 20;
constexpr uint64_t kLargeSegmentBytes = 20 << 20;  // for requests below kOwnSegmentBytes
constexpr uint64_t kOwnSegmentBytes = 10 << 20;    // from here on a segment is as large as its request
constexpr uint64_t kSegmentGranule = 2 << 20;

// As in PYTORCH_CUDA_ALLOC_CONF.
struct Settings {
  bool expandable_segments = false;
  uint64_t max_split_bytes = UINT64_MAX;    // max_split_size_mb
  double garbage_collection_threshold = 0;  // of the limit; 0: none
  uint32_t roundup_power2_divisions = 0;
  // Of free blocks of one size the one in the oldest segment is taken, as new versions do it; otherwise the one with
  // the lowest address.
  bool oldest_first = false;
};

// What a request takes.
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

// The segment that the driver is asked for where no free block has room for `bytes`.
inline uint64_t SegmentBytes(uint64_t bytes) {
  if (bytes <= kSmallRequestBytes) return kSmallSegmentBytes;
  if (bytes < kOwnSegmentBytes) return kLargeSegmentBytes;
  return (bytes + kSegmentGranule - 1) / kSegmentGranule * kSegmentGranule;
}

// Whether what is left of a free block is cut off, where `bytes` of it are given out.
inline bool Splits(const Settings& settings, bool small, uint64_t bytes, uint64_t remaining) {
  if (small || settings.expandable_segments) return remaining >= kMinBlockBytes;
  return bytes < settings.max_split_bytes && remaining > kSmallRequestBytes;
}

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SETTINGS_H_
