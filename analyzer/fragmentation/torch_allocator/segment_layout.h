// SPDX-License-Identifier: Apache-2.0
//
// Where the blocks of one device really lay, event by event: the driver's memory that is segments, cut into blocks and
// the free pieces between them.
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/torch_allocator/address_table.h"
#include "analyzer/fragmentation/torch_allocator/allocator_model.h"
#include "analyzer/fragmentation/torch_allocator/arenas.h"
#include "analyzer/fragmentation/torch_allocator/block_lists.h"

namespace vramtrack::torch_allocator {

// Thread-compatible.
class SegmentLayout {
 public:
  using Block = BlockLists::Id;
  static constexpr Block kNone = BlockLists::kNone;

  // `known`: what an earlier replay of the same trace has learnt of arenas; null: learn it. Must outlive this.
  explicit SegmentLayout(const Arenas* known) : known_(known), blocks_(known != nullptr && known->oldest_first) {}

  // Lets the layout rest after `placements` blocks, once `settled` of them in a row met no new and no released segment.
  // Steps repeat themselves: such blocks teach nothing more about arenas. At rest only the live blocks are followed,
  // which is several times faster; the free pieces are computed from them when a segment comes or goes.
  void RestAfter(uint64_t placements, uint64_t settled = 100'000) {
    rest_after_ = placements;
    settled_ = settled;
  }
  // Ends the rest: the layout is then as if it had never rested.
  void Wake();
  bool at_rest() const { return at_rest_; }

  // Memory of the driver, a segment from its first block on. A mapping is part of `range`, the addresses that it is in.
  void AddMemory(Name name, uint64_t address, uint64_t bytes, bool mapped);
  void AddAddresses(Name name, uint64_t address, uint64_t bytes);
  void RemoveAddresses(uint64_t address);
  // Whether it was a segment.
  bool RemoveMemory(uint64_t address);

  struct Placed {
    Block block = kNone;  // an own number while it lives, less than blocks(); kNone: in memory that is not known
    uint32_t arena = 0;
    uint32_t segment = 0;     // while arenas are learnt: its number for ArenaGuess
    bool small = false;       // whether that is of the small pool
    SegmentHint new_segment;  // of which it is the first block; otherwise empty
    bool surprising = false;  // not where the allocator's rules would have put it, as far as arenas are known
  };
  Placed Place(ThreadSlot slot, uint64_t address, uint64_t bytes);
  // The block that was there.
  Block Remove(uint64_t address);
  // The arena that a request of this thread would have been of.
  uint32_t ArenaOf(ThreadSlot slot, uint64_t bytes) const;

  // The allocator has given back what it wanted to; it is the `release`th time.
  void OnReleased(uint64_t release);

  // The segment that has this address; of a mapping the addresses that it is in.
  Name SegmentAt(uint64_t address) const;

  Block blocks() const { return blocks_.size(); }
  uint64_t reserved() const { return reserved_; }
  uint64_t live() const { return live_; }
  bool has_mapped_segments() const { return mapped_segments_; }
  Arenas Learnt() const { return guess_.Finish(); }

  // The driver's memory that is segments, by address.
  struct Segment {
    uint64_t begin = 0, bytes = 0;
    uint32_t arena = 0;  // 0 while they are learnt: what Learnt() says of `name` is known at the end
    bool small = false, mapped = false;
    Name name;  // of a mapping that of the addresses it is in
  };
  std::vector<Segment> Segments() const;
  // Calls `visit(block, address, bytes)` for all live blocks, in no particular order.
  template <typename Visit>
  void ForEachLive(Visit visit) const {
    by_address_.ForEach([&](uint64_t address, Block block) {
      if (!blocks_[block].free) visit(block, address, blocks_[block].bytes);
    });
  }

  // So many better free blocks are looked at for each that is given out.
  static constexpr int kMaxPassed = 64;

 private:
  struct Memory {
    Name name;
    uint64_t bytes = 0;
    bool mapped = false, is_segment = false, small = false;
    uint32_t segment = 0;  // its number for ArenaGuess, or its arena where they are known
    uint32_t age = 0;      // how many became segments before it
  };

  uint32_t PoolOf(uint32_t arena, bool small) const { return arena * 2 + small; }
  // While they are learnt there is one.
  uint32_t ArenaOfSegment(uint32_t segment) const { return known_ != nullptr ? segment : 0; }
  bool Adopt(uint64_t address, uint64_t bytes, Placed* placed);
  void AdoptOne(uint64_t begin, Memory* memory, uint64_t bytes);
  Block FreeBlockAt(uint64_t address);
  void JudgePlace(Block block, uint64_t bytes, Placed* placed);
  Block Merge(Block block);
  void Rest();
  Block PlaceAtRest(uint64_t address, uint64_t bytes);
  void Drop(const std::pair<uint64_t, Block>& block);
  void CutExtent(uint64_t begin, uint64_t end, const Memory& memory,
                 const std::vector<std::pair<uint64_t, Block>>& live);
  Name RangeOf(uint64_t address) const;

  const Arenas* known_;
  ArenaGuess guess_;
  BlockLists blocks_;
  absl::btree_map<uint64_t, Memory> memory_;                        // by address
  absl::btree_map<uint64_t, std::pair<uint64_t, Name>> addresses_;  // reserved: bytes and who
  std::map<Name, std::pair<uint32_t, bool>> range_segments_;  // in reserved addresses: segment, and whether it is small
  AddressTable by_address_;                                   // blocks, free ones as well
  std::map<std::pair<ThreadSlot, bool>, uint32_t> last_arena_;  // by slot and whether small
  uint64_t reserved_ = 0, live_ = 0;
  uint64_t rest_after_ = UINT64_MAX, settled_ = 0;
  uint64_t placements_ = 0, last_change_ = 0, last_added_ = 0;  // the latter two in placements
  // A segment's first block follows it at once, but for those that other threads place meanwhile.
  static constexpr uint64_t kBlocksBeforeFirst = 16;
  bool at_rest_ = false;
  std::vector<std::pair<uint64_t, uint64_t>> added_at_rest_;  // memory that no block is in: address and bytes
  uint32_t segments_taken_ = 0;
  bool mapped_segments_ = false;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
