// SPDX-License-Identifier: Apache-2.0
//
// Where the blocks of one device were placed, event by event: the driver's memory that is used as segments, divided
// into blocks and the free pieces between them.
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "analyzer/fragmentation/torch_allocator/allocator_model.h"
#include "analyzer/fragmentation/torch_allocator/arenas.h"
#include "analyzer/fragmentation/torch_allocator/block_lists.h"

namespace vramtrack::torch_allocator {

// The layout of one device's segments. It also infers their arenas. Thread-compatible.
class SegmentLayout {
 public:
  using Block = BlockLists::Id;
  static constexpr Block kNone = BlockLists::kNone;

  static constexpr uint64_t kSettledBlocks = 100'000;
  // Pauses the layout after `placements` blocks, once `settled` of them in a row met no new and no released memory. As
  // steps repeat, further blocks show nothing new about arenas. A paused layout follows only the live blocks, which is
  // several times faster; it computes the free pieces from them when memory is added or removed.
  void RestAfter(uint64_t placements, uint64_t settled = kSettledBlocks) {
    rest_after_ = placements;
    settled_ = settled;
  }
  // Ends the pause: the layout is then as if it had never paused.
  void Wake();
  bool at_rest() const { return at_rest_; }
  // Returns whether the last blocks, as many as RestAfter says, met no new and no released memory.
  bool is_settled() const { return placements_ - last_change_ >= settled_; }

  // Adds memory of the driver, which becomes a segment with its first block. A mapping is part of the addresses that
  // it is in.
  void AddMemory(uint64_t address, uint64_t bytes, bool mapped);
  void AddAddresses(uint64_t address, uint64_t bytes);
  void RemoveAddresses(uint64_t address);
  // Removes memory of the driver. Returns whether it was a segment.
  bool RemoveMemory(uint64_t address);

  struct Placed {
    // A number that is unique while the block is live; kNone in unknown memory.
    Block block = kNone;
    ArenaGuess::Segment segment = 0;  // not while the layout rests
    bool small = false;               // whether the segment belongs to the small pool; not while the layout rests
    SegmentHint new_segment;          // the segment, if this is its first block; otherwise empty
  };
  Placed Place(uint64_t address, uint64_t bytes);
  // Removes a block and returns it.
  Block Remove(uint64_t address);

  // Records that the allocator has finished its `release`th release of memory.
  void OnReleased(uint64_t release);

  uint64_t reserved() const { return reserved_; }
  bool has_mapped_segments() const { return mapped_segments_; }
  Arenas Learnt() const { return guess_.Finish(); }

  // A segment: driver memory that the allocator divides into blocks.
  struct Segment {
    uint64_t begin = 0, bytes = 0;
    bool small = false, mapped = false;
    ArenaGuess::Segment number = 0;  // mappings in the same addresses have the same
    uint32_t arena = 0;              // for the caller to fill: see Learnt()
  };
  // Returns the segments by address.
  std::vector<Segment> Segments() const;
  // Calls `visit(block, address, bytes)` for each live block, in no particular order.
  template <typename Visit>
  void ForEachLive(Visit visit) const {
    for (const auto& [address, block] : by_address_) {
      if (!blocks_[block].free) visit(block, address, blocks_[block].bytes);
    }
  }

 private:
  // Limit of better free blocks that are examined for each block that is handed out.
  static constexpr int kMaxPassed = 64;

  struct Memory {
    uint64_t bytes = 0;
    bool mapped = false, is_segment = false, small = false;
    ArenaGuess::Segment segment = 0;
    uint32_t age = 0;  // number of segments before it
  };
  struct RangeSegment {
    ArenaGuess::Segment segment;
    bool small;
  };

  bool HasRoom(Block block, uint64_t address, uint64_t bytes) const;
  Block BlockAt(uint64_t address) const;
  uint64_t RangeOf(uint64_t address) const;
  void Fill(Block id, const Memory& memory, uint64_t address, uint64_t bytes);
  void Adopt(uint64_t address, uint64_t bytes, Placed* placed);
  void MakeSegment(uint64_t begin, bool small, Memory* memory);
  void AddFree(uint64_t begin, const Memory& memory);
  void CutAt(uint64_t address);
  void JudgePlace(Block block, uint64_t bytes, const Placed& placed);
  void Merge(Block block);
  void Rest();

  ArenaGuess guess_;
  BlockLists blocks_{/*oldest_first=*/false};
  absl::btree_map<uint64_t, Memory> memory_;         // by address
  absl::btree_map<uint64_t, uint64_t> addresses_;    // reserved addresses and their bytes
  std::map<uint64_t, RangeSegment> range_segments_;  // segments in reserved addresses, by the first address
  absl::flat_hash_map<uint64_t, Block> by_address_;  // all blocks; while the layout rests, only live ones
  uint64_t reserved_ = 0;
  uint64_t rest_after_ = UINT64_MAX, settled_ = kSettledBlocks;
  uint64_t placements_ = 0, last_change_ = 0;  // the latter is counted in placements
  bool at_rest_ = false;
  uint32_t segments_taken_ = 0;
  bool mapped_segments_ = false;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
