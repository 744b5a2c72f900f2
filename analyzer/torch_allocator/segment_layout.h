// SPDX-License-Identifier: Apache-2.0
//
// Where the blocks of one device were placed, event by event: the driver's memory that is used as segments, divided
// into blocks and the free pieces between them.
#ifndef ANALYZER_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
#define ANALYZER_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "analyzer/torch_allocator/allocator_model.h"
#include "analyzer/torch_allocator/arenas.h"
#include "analyzer/torch_allocator/block_map.h"

namespace vramtrack::torch_allocator {

// The layout of one device's segments. It also infers their arenas. Thread-compatible.
class SegmentLayout {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Returns whether the last 100,000 blocks met no new and no released memory. As steps repeat, further blocks show
  // nothing new about arenas.
  bool is_settled() const { return placements_ - last_change_ >= kSettledBlocks; }
  uint64_t placements() const { return placements_; }  // number of calls of Place

  // Forgets all blocks. A layout at rest must be woken up before its memory changes; Place and Remove are not to be
  // called meanwhile.
  void Rest();
  bool at_rest() const { return at_rest_; }
  // Ends the rest. `live`: the blocks by now, as address and bytes.
  void Wake(const std::vector<std::pair<uint64_t, uint64_t>>& live);

  // Adds memory of the driver, which becomes a segment with its first block. A mapping is part of the addresses that
  // it is in.
  void AddMemory(uint64_t address, uint64_t bytes, bool mapped);
  void AddAddresses(uint64_t address, uint64_t bytes);
  void RemoveAddresses(uint64_t address);
  // Removes memory of the driver. Returns whether it was a segment.
  bool RemoveMemory(uint64_t address);

  struct Placed {
    uint32_t block = kNone;  // a number that is unique while the block is live; kNone in unknown memory
    ArenaGuess::Segment segment = 0;
    bool small = false;       // whether the segment belongs to the small pool
    SegmentHint new_segment;  // the segment, if this is its first block; otherwise empty
  };
  Placed Place(uint64_t address, uint64_t bytes);
  // Removes a block and returns its number; kNone for one that is not known.
  uint32_t Remove(uint64_t address);

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

 private:
  static constexpr uint64_t kSettledBlocks = 100'000;
  // Limit of better free blocks that are examined for each block that is handed out.
  static constexpr int kMaxPassed = 64;

  using Block = BlockMap::Id;
  struct Memory {
    uint64_t bytes = 0;
    bool mapped = false, is_segment = false, small = false;
    ArenaGuess::Segment segment = 0;
  };
  struct RangeSegment {
    ArenaGuess::Segment segment;
    bool small;
  };

  bool HasRoom(Block block, uint64_t address, uint64_t bytes);
  uint64_t RangeOf(uint64_t address) const;
  Block FindRoom(uint64_t address, uint64_t bytes, SegmentHint* new_segment);
  void MakeSegment(uint64_t begin, bool small, Memory* memory);
  void AddFree(uint64_t begin, const Memory& memory);
  void CutAt(uint64_t address);
  void JudgePlace(Block block, uint64_t bytes, bool is_new);
  Block Occupy(Block free, uint64_t address, uint64_t bytes);

  ArenaGuess guess_;
  BlockMap blocks_{/*oldest_first=*/false};
  absl::btree_map<uint64_t, Memory> memory_;         // by address
  absl::btree_map<uint64_t, uint64_t> addresses_;    // reserved addresses and their bytes
  std::map<uint64_t, RangeSegment> range_segments_;  // segments in reserved addresses, by the first address
  std::vector<uint32_t> unused_numbers_;             // of blocks
  uint32_t next_number_ = 0;
  uint64_t reserved_ = 0;
  uint64_t placements_ = 0, last_change_ = 0;  // the latter is counted in placements
  bool at_rest_ = false;
  bool mapped_segments_ = false;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_SEGMENT_LAYOUT_H_
