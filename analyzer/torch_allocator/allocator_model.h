// SPDX-License-Identifier: Apache-2.0
//
// A model of PyTorch's native caching allocator that uses no memory of a device: it computes what the allocator would
// request from the driver, and where each block would be placed.
#ifndef ANALYZER_TORCH_ALLOCATOR_ALLOCATOR_MODEL_H_
#define ANALYZER_TORCH_ALLOCATOR_ALLOCATOR_MODEL_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/torch_allocator/block_map.h"
#include "analyzer/torch_allocator/settings.h"

namespace vramtrack::torch_allocator {

// Where the driver placed a segment in a real run. It decides which of two free blocks of the same size is taken.
struct SegmentHint {
  uint64_t address = 0, bytes = 0;
};

// The allocator's state on one device. Requests that share a stream and a pool of memory form one `arena`: only they
// reuse each other's free blocks. Thread-compatible.
class AllocatorModel {
 public:
  using Block = BlockMap::Id;

  explicit AllocatorModel(const Settings& settings) : settings_(settings), blocks_(settings.oldest_first) {}

  // Limits the bytes of all segments; without a call they are not limited.
  void SetLimit(uint64_t bytes) { limit_ = bytes; }
  // Sets whether empty_cache() skips the memory of this arena, as it does for a captured graph.
  void SetPrivate(uint32_t arena, bool is_private);

  Block none() { return blocks_.none(); }
  // Returns none() if there is no room even after all cached memory has been released.
  Block Allocate(uint32_t arena, uint64_t request, const SegmentHint& hint = {});
  void Free(Block block) {
    if (block != none()) blocks_.MakeFree(block);
  }
  void EmptyCache();

  uint64_t reserved() const { return reserved_; }
  uint64_t peak_reserved() const { return peak_reserved_; }
  uint64_t failures() const { return failures_; }  // returns how often Allocate failed
  // Returns the largest size that a request of the pool of `bytes` could get if all cached memory were released first.
  uint64_t LargestPossible(uint32_t arena, uint64_t bytes);

 private:
  // Addresses that no device uses, for segments whose address in a real run is unknown.
  static constexpr uint64_t kOwnAddresses = uint64_t{1} << 50, kExpandableAddresses = uint64_t{1} << 52;
  static constexpr uint64_t kExpandableBytes = uint64_t{1} << 44;

  static uint32_t PoolOf(uint32_t arena, bool small) { return arena * 2 + small; }
  static uint64_t GranuleOf(uint32_t pool) { return pool % 2 == 1 ? kSmallSegmentBytes : kLargeSegmentBytes; }
  bool IsPrivate(uint32_t pool) const { return pool / 2 < private_.size() && private_[pool / 2]; }

  Block TakeFree(uint32_t pool, uint64_t bytes);
  Block NewSegment(uint32_t pool, uint64_t bytes, const SegmentHint& hint);
  Block Expand(uint32_t pool, uint64_t bytes);
  Block ExpandableRoom(uint32_t pool, uint64_t bytes);
  Block Map(Block block, uint64_t bytes);
  void Unmap(Block block);
  // Returns the part of a free block that could be returned to the driver, as addresses; empty if there is none.
  std::pair<uint64_t, uint64_t> Releasable(Block block);
  bool Reserve(uint64_t bytes);

  const Settings settings_;
  uint64_t limit_ = UINT64_MAX;
  BlockMap blocks_;
  std::map<uint64_t, std::set<uint64_t>> returned_;  // the model's own addresses of released segments, by size
  uint64_t next_address_ = kOwnAddresses, next_expandable_ = kExpandableAddresses;
  uint32_t segments_taken_ = 0;
  std::vector<bool> private_;  // by arena
  uint64_t reserved_ = 0, peak_reserved_ = 0, failures_ = 0;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_ALLOCATOR_MODEL_H_
