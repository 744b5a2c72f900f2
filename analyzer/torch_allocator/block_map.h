// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_TORCH_ALLOCATOR_BLOCK_MAP_H_
#define ANALYZER_TORCH_ALLOCATOR_BLOCK_MAP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>

#include "absl/container/btree_set.h"

namespace vramtrack::torch_allocator {

// Segments by address, divided into blocks and free pieces, and the free pieces of each pool in the order in which the
// allocator looks for room: by size, then by the age of the segment if the allocator uses it, then by address.
// Thread-compatible.
class BlockMap {
 public:
  struct Block {
    uint64_t bytes = 0;
    uint32_t pool = 0;
    uint32_t segment = 0;  // only blocks of the same segment are merged; an older segment has a smaller number
    uint32_t number = 0;   // for the owner's use
    bool free = true;
    bool mapped = true;  // false for addresses of an expandable segment without memory
    bool expandable = false;
  };
  using Id = std::map<uint64_t, Block>::iterator;  // valid until the block is merged or removed

  struct FreeKey {
    uint64_t bytes = 0;
    uint32_t age = 0;
    uint64_t address = 0;
    Id id;  // not compared

    // Without a branch, as the direction of a search cannot be predicted.
    bool operator<(const FreeKey& other) const {
      const int tie = (age < other.age) | ((age == other.age) & (address < other.address));
      return ((bytes < other.bytes) | ((bytes == other.bytes) & tie)) != 0;
    }
  };
  using FreeList = absl::btree_set<FreeKey>;

  explicit BlockMap(bool oldest_first) : oldest_first_(oldest_first) {}

  Id none() { return blocks_.end(); }
  const std::map<uint64_t, Block>& blocks() const { return blocks_; }
  // Returns the block that contains the address, or none().
  Id At(uint64_t address) {
    Id id = blocks_.upper_bound(address);
    if (id == blocks_.begin() || address - std::prev(id)->first >= std::prev(id)->second.bytes) return none();
    return std::prev(id);
  }
  bool IsVacant(uint64_t address, uint64_t bytes) {
    const Id after = blocks_.lower_bound(address + bytes);
    return after == blocks_.begin() || std::prev(after)->first + std::prev(after)->second.bytes <= address;
  }
  // Return the neighbour in the same segment, or none().
  Id Before(Id id) {
    if (id == blocks_.begin()) return none();
    const Id before = std::prev(id);
    return before->second.segment == id->second.segment && End(before) == id->first ? before : none();
  }
  Id After(Id id) {
    const Id after = std::next(id);
    return after != none() && after->second.segment == id->second.segment && End(id) == after->first ? after : none();
  }
  bool IsSplit(Id id) { return Before(id) != none() || After(id) != none(); }

  // Returns the free pieces of a pool; they are all mapped.
  const FreeList& FreeOf(uint32_t pool) { return ListOf(pool, true); }
  // Returns the unmapped pieces of a pool by address.
  const FreeList& UnmappedOf(uint32_t pool) { return ListOf(pool, false); }
  uint32_t pools() const { return static_cast<uint32_t>((lists_.size() + 1) / 2); }

  // Adds a block at an address that is vacant. It is not listed.
  Id Add(uint64_t address, const Block& block) { return blocks_.insert_or_assign(address, block).first; }
  // Lists a free piece; Unlist must be called before it changes.
  void List(Id id) { ListOf(id->second.pool, id->second.mapped).insert(KeyOf(id)); }
  void Unlist(Id id) { ListOf(id->second.pool, id->second.mapped).erase(KeyOf(id)); }
  // Removes a block that is not listed. Returns the one after it.
  Id Remove(Id id) { return blocks_.erase(id); }

  // Cuts a block that is not listed so that `bytes` are left. Returns the rest, which is not listed either.
  Id CutOff(Id id, uint64_t bytes) {
    const Id rest = blocks_.emplace_hint(std::next(id), id->first + bytes, id->second);
    rest->second.bytes -= bytes;
    id->second.bytes = bytes;
    return rest;
  }
  // Makes the block a free piece, merges it with its free neighbours and lists it. Returns the piece.
  Id MakeFree(Id id) {
    id->second.free = true;
    if (const Id after = After(id); Merges(id, after)) {
      Unlist(after);
      Join(id, after);
    }
    if (const Id before = Before(id); Merges(id, before)) {
      Unlist(before);
      Join(before, id);
      id = before;
    }
    List(id);
    return id;
  }

 private:
  static uint64_t End(Id id) { return id->first + id->second.bytes; }
  bool Merges(Id id, Id neighbour) {
    return neighbour != none() && neighbour->second.free && neighbour->second.mapped == id->second.mapped;
  }
  void Join(Id id, Id after) {
    id->second.bytes += after->second.bytes;
    blocks_.erase(after);
  }
  FreeList& ListOf(uint32_t pool, bool mapped) {
    const size_t list = size_t{pool} * 2 + (mapped ? 0 : 1);
    while (list >= lists_.size()) lists_.emplace_back();
    return lists_[list];
  }
  FreeKey KeyOf(Id id) const {
    const Block& block = id->second;
    if (!block.mapped) return {0, 0, id->first, id};
    return {block.bytes, oldest_first_ ? block.segment : 0, id->first, id};
  }

  bool oldest_first_;
  std::map<uint64_t, Block> blocks_;
  std::deque<FreeList> lists_;  // by pool; of each the free pieces, and then the unmapped ones
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_BLOCK_MAP_H_
