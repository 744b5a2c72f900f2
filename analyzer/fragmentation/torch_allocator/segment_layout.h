// SPDX-License-Identifier: Apache-2.0
//
// Where the blocks of one device were placed, event by event: the driver's memory that is used as segments, divided
// into blocks and the free pieces between them.
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

// The layout of one device's segments. Thread-compatible.
class SegmentLayout {
 public:
  using Block = BlockLists::Id;
  static constexpr Block kNone = BlockLists::kNone;

  // `known`: the arenas of an earlier replay of the same trace; null: infer them. Must outlive this.
  explicit SegmentLayout(const Arenas* known) : known_(known), blocks_(known != nullptr && known->oldest_first) {}

  static constexpr uint64_t kSettledBlocks = 100'000;
  // Pauses the layout after `placements` blocks, once `settled` of them in a row met no new and no released segment.
  // As steps repeat, further blocks show nothing new about arenas. A paused layout follows only the live blocks and
  // the segments that they are in, which is several times faster; it computes the free pieces from them when a segment
  // is added or removed.
  // `counts_uses`: a paused layout still counts how often each segment is used, which costs some time. Once false, it
  // must stay so.
  void RestAfter(uint64_t placements, uint64_t settled = kSettledBlocks, bool counts_uses = false) {
    rest_after_ = placements;
    settled_ = settled;
    if (counts_uses_ && !counts_uses) ends_ = {};
    counts_uses_ = counts_uses;
  }
  // Ends the pause: the layout is then as if it had never paused.
  void Wake();
  bool at_rest() const { return at_rest_; }

  // Adds memory of the driver, which becomes a segment with its first block. A mapping is part of the addresses that
  // it is in.
  void AddMemory(Name name, uint64_t address, uint64_t bytes, bool mapped);
  void AddAddresses(Name name, uint64_t address, uint64_t bytes);
  void RemoveAddresses(uint64_t address);
  // Removes memory of the driver. Returns whether it was a segment.
  bool RemoveMemory(uint64_t address);

  struct Placed {
    // a number that is unique while the block is live, less than blocks(); kNone in unknown memory
    Block block = kNone;
    uint32_t arena = 0;
    uint32_t segment = 0;     // its number for ArenaGuess while arenas are inferred
    bool small = false;       // whether the segment belongs to the small pool
    SegmentHint new_segment;  // the segment, if this is its first block; otherwise empty
    bool surprising = false;  // the allocator's rules would have placed it elsewhere, as far as arenas are known
  };
  Placed Place(ThreadSlot slot, uint64_t address, uint64_t bytes);
  // Removes a block and returns it.
  Block Remove(uint64_t address);
  // Returns the arena of a request by this thread.
  uint32_t ArenaOf(ThreadSlot slot, uint64_t bytes) const;

  // Records that the allocator has finished its `release`th release of memory.
  void OnReleased(uint64_t release);

  // Returns the segment that contains this address; for a mapping, the addresses that it is in.
  Name SegmentAt(uint64_t address) const;

  Block blocks() const { return blocks_.size(); }
  uint64_t reserved() const { return reserved_; }
  uint64_t live() const { return live_; }
  bool has_mapped_segments() const { return mapped_segments_; }
  Arenas Learnt() const { return guess_.Finish(); }

  // A segment: driver memory that the allocator divides into blocks.
  struct Segment {
    uint64_t begin = 0, bytes = 0;
    uint32_t arena = 0;  // 0 while arenas are inferred; at the end Learnt() has the arena of `name`
    bool small = false, mapped = false;
    Name name;  // for a mapping, the name of the addresses that it is in
  };
  std::vector<Segment> Segments() const;
  // Calls `visit(block, address, bytes)` for each live block, in no particular order.
  template <typename Visit>
  void ForEachLive(Visit visit) const {
    by_address_.ForEach([&](uint64_t address, Block block) {
      if (!blocks_[block].free) visit(block, address, blocks_[block].bytes);
    });
  }

  // Limit of better free blocks that are examined for each block that is handed out.
  static constexpr int kMaxPassed = 64;

 private:
  struct Memory {
    Name name;
    uint64_t bytes = 0;
    bool mapped = false, is_segment = false, small = false;
    uint32_t segment = 0;  // its number for ArenaGuess, or its arena if arenas are known
    uint32_t age = 0;      // number of segments before it
  };

  uint32_t PoolOf(uint32_t arena, bool small) const { return arena * 2 + small; }
  // There is only arena 0 while arenas are inferred.
  uint32_t ArenaOfSegment(uint32_t segment) const { return known_ != nullptr ? segment : 0; }
  bool Adopt(uint64_t address, uint64_t bytes, Placed* placed);
  void AdoptOne(uint64_t begin, Memory* memory, uint64_t bytes);
  Block FreeBlockAt(uint64_t address);
  void JudgePlace(Block block, uint64_t bytes, Placed* placed);
  Block Merge(Block block);
  void Rest();
  // Places a block while the layout rests. Returns false if that needs the free pieces.
  bool PlaceAtRest(uint64_t address, uint64_t bytes, Placed* placed);
  void Drop(const std::pair<uint64_t, Block>& block);
  void CutExtent(uint64_t begin, uint64_t end, const Memory& memory,
                 const std::vector<std::pair<uint64_t, Block>>& live);
  Name RangeOf(uint64_t address) const;

  // Memory of one segment without a gap, as far as it is known.
  struct Extent {
    uint64_t begin = 0, end = 0;
    const Memory* memory = nullptr;  // the first memory in it; null: none
  };
  // Returns the extent of [address, address + bytes): without memory if there is none at all at the address, and too
  // short if it is not all in one segment.
  Extent ExtentOf(uint64_t address, uint64_t bytes) const;

  const Arenas* known_;
  ArenaGuess guess_;
  BlockLists blocks_;
  absl::btree_map<uint64_t, Memory> memory_;                        // by address
  absl::btree_map<uint64_t, std::pair<uint64_t, Name>> addresses_;  // reserved addresses: size and name
  // segments in reserved addresses: number, and whether it is small
  std::map<Name, std::pair<uint32_t, bool>> range_segments_;
  AddressTable by_address_;                                     // all blocks, also free ones
  std::map<std::pair<ThreadSlot, bool>, uint32_t> last_arena_;  // by slot and whether the block is small
  uint64_t reserved_ = 0, live_ = 0;
  uint64_t rest_after_ = UINT64_MAX, settled_ = 0;
  bool counts_uses_ = false;
  uint64_t placements_ = 0, last_change_ = 0, last_added_ = 0;  // the latter two are counted in placements
  // The first block of a segment follows it at once, except for blocks that other threads place meanwhile.
  static constexpr uint64_t kBlocksBeforeFirst = 16;
  bool at_rest_ = false;
  std::vector<std::pair<uint64_t, uint64_t>> added_at_rest_;  // memory without a block: address and bytes
  // The extents of late, by page. Empty unless the layout rests, as memory may change then.
  static constexpr size_t kRecentExtents = 4096;
  static constexpr int kPageShift = 21;  // most segments begin and end at pages of 2 MiB
  std::vector<Extent> recent_;
  AddressTable ends_;  // the ends of the live blocks, if the layout rests and counts uses
  uint32_t segments_taken_ = 0;
  bool mapped_segments_ = false;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
