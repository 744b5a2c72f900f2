// SPDX-License-Identifier: Apache-2.0
//
// A model of PyTorch's native caching allocator that uses no memory of a device: it computes what the allocator would
// request from the driver, and where each block would be placed.
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ALLOCATOR_MODEL_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ALLOCATOR_MODEL_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "analyzer/fragmentation/torch_allocator/block_lists.h"
#include "analyzer/fragmentation/torch_allocator/settings.h"

namespace vramtrack::torch_allocator {

// Where the driver placed a segment in a real run. It decides which of two free blocks of the same size is taken.
struct SegmentHint {
  uint64_t address = 0, bytes = 0;
};

// The allocator's state on one device. Requests that share a stream and a pool of memory form one `arena`: only they
// reuse each other's free blocks. Thread-compatible.
class AllocatorModel {
 public:
  using Block = BlockLists::Id;
  static constexpr Block kNone = BlockLists::kNone;

  explicit AllocatorModel(const Settings& settings) : settings_(settings), blocks_(settings.oldest_first) {}

  // Limits the bytes of all segments; without a call they are not limited.
  void SetLimit(uint64_t bytes) { limit_ = bytes; }
  // Sets whether empty_cache() skips the memory of this arena, as it does for a captured graph.
  void SetPrivate(uint32_t arena, bool is_private);

  // Returns kNone if there is no room even after all cached memory has been released.
  Block Allocate(uint32_t arena, uint64_t request, const SegmentHint& hint = {});
  void Free(Block block);
  void EmptyCache();

  uint64_t reserved() const { return reserved_; }
  uint64_t peak_reserved() const { return peak_reserved_; }
  uint64_t failures() const { return failures_; }  // returns how often Allocate failed
  uint64_t address(Block block) const { return blocks_[block].address; }
  uint64_t bytes(Block block) const { return blocks_[block].bytes; }
  // Returns the largest size that a request of the pool of `bytes` could get if all cached memory were released first.
  uint64_t LargestPossible(uint32_t arena, uint64_t bytes) const;

 private:
  // Addresses that no device uses, for segments whose address in a real run is unknown.
  static constexpr uint64_t kOwnAddresses = uint64_t{1} << 50, kExpandableAddresses = uint64_t{1} << 52;
  static constexpr uint64_t kExpandableBytes = uint64_t{1} << 44;

  static uint32_t PoolOf(uint32_t arena, bool small) { return arena * 2 + small; }
  static bool IsSmall(uint32_t pool) { return pool % 2 == 1; }
  static uint64_t GranuleOf(uint32_t pool) { return IsSmall(pool) ? kSmallSegmentBytes : kLargeSegmentBytes; }
  bool IsPrivate(uint32_t pool) const { return pool / 2 < private_.size() && private_[pool / 2]; }

  Block TakeFree(uint32_t pool, uint64_t bytes);
  Block NewSegment(uint32_t pool, uint64_t bytes, const SegmentHint& hint);
  Block Expand(uint32_t pool, uint64_t bytes);
  Block ExpandableRoom(uint32_t pool, uint64_t bytes);
  bool Map(Block block, uint64_t bytes);
  void Unmap(Block block);
  Block Merge(Block block);
  bool MergeWith(Block block, Block neighbour);
  void Release(Block block);
  uint64_t PlaceSegment(uint64_t bytes, const SegmentHint& hint);
  void Reserve(uint64_t bytes) {
    reserved_ += bytes;
    if (reserved_ > peak_reserved_) peak_reserved_ = reserved_;
  }

  const Settings settings_;
  uint64_t limit_ = UINT64_MAX;
  BlockLists blocks_;
  std::vector<absl::btree_map<uint64_t, Block>> unmapped_;  // by pool, then by address
  absl::btree_map<uint64_t, Block> segments_;               // the first block of each segment, by address
  std::map<uint64_t, absl::btree_set<uint64_t>> returned_;  // the model's own addresses of released segments, by size
  uint64_t next_address_ = kOwnAddresses, expandable_segments_ = 0;
  uint32_t segments_taken_ = 0;
  std::vector<bool> private_;  // by arena
  uint64_t reserved_ = 0, peak_reserved_ = 0, failures_ = 0;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ALLOCATOR_MODEL_H_
