// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_

#include <cstdint>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/free_list.h"

namespace vramtrack::torch_allocator {

// Segments divided into blocks. Each block knows its neighbours. The free blocks of a pool are sorted by size, then by
// the age of the segment if the allocator uses it, then by address: the order in which the allocator looks for room.
// Thread-compatible.
class BlockLists {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = UINT32_MAX;

  struct Block {
    uint64_t address = 0, bytes = 0;
    Id previous = kNone, next = kNone;  // neighbours in the same segment
    uint32_t pool = 0, segment = 0;     // numbers that the owner chooses
    uint32_t age = 0;                   // number of its segment
    bool free = true;
    bool mapped = true;  // false for addresses of an expandable segment without memory
    bool expandable = false;
    uint64_t free_since = 0;  // on the owner's clock
  };

  explicit BlockLists(bool oldest_first) : oldest_first_(oldest_first) {}

  Block& operator[](Id id) { return blocks_[id]; }
  const Block& operator[](Id id) const { return blocks_[id]; }
  // Returns a number that is greater than all ids.
  Id size() const { return static_cast<Id>(blocks_.size()); }
  bool IsSplit(const Block& block) const { return block.previous != kNone || block.next != kNone; }

  // Adds a free block that is in no pool's set yet, for the caller to fill: a copy of a block that was just written
  // part by part would stall the processor.
  Id New() {
    if (unused_.empty()) {
      blocks_.emplace_back();
      return size() - 1;
    }
    const Id id = unused_.back();
    unused_.pop_back();
    blocks_[id] = Block();
    return id;
  }
  // Deletes a block that is not in a set and is no longer a neighbour.
  void Delete(Id id) { unused_.push_back(id); }

  FreeList& FreeOf(uint32_t pool) {
    if (pool >= free_.size()) free_.resize(pool + 1);
    return free_[pool];
  }
  uint32_t pools() const { return static_cast<uint32_t>(free_.size()); }
  void Insert(Id id) { FreeOf(blocks_[id].pool).Insert(KeyOf(id)); }
  void Erase(Id id) { FreeOf(blocks_[id].pool).Erase(KeyOf(id)); }

  // Cuts off the end so that `bytes` are left. Returns the new block, which is in no set.
  Id CutOff(Id id, uint64_t bytes) {
    const Id cut = New();
    Block &block = blocks_[id], &rest = blocks_[cut];
    rest = block;
    rest.address = block.address + bytes;
    rest.bytes = block.bytes - bytes;
    rest.previous = id;
    block.bytes = bytes;
    block.next = cut;
    if (rest.next != kNone) blocks_[rest.next].previous = cut;
    return cut;
  }

  // Merges two neighbours, neither in a set; `gone` is deleted.
  void Join(Id id, Id gone) {
    Block& block = blocks_[id];
    const Block other = blocks_[gone];
    if (block.previous == gone) {
      block.address = other.address;
      block.previous = other.previous;
      if (block.previous != kNone) blocks_[block.previous].next = id;
    } else {
      block.next = other.next;
      if (block.next != kNone) blocks_[block.next].previous = id;
    }
    block.bytes += other.bytes;
    Delete(gone);
  }

 private:
  FreeKey KeyOf(Id id) const {
    const Block& block = blocks_[id];
    return {block.bytes, oldest_first_ ? block.age : 0, id, block.address};
  }

  const bool oldest_first_;
  std::vector<Block> blocks_;
  std::vector<Id> unused_;
  std::vector<FreeList> free_;  // by pool
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_
