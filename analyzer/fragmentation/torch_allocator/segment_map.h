// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_MAP_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_MAP_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/torch_allocator/segment_layout.h"

namespace vramtrack::torch_allocator {

// The segments of a device at one moment, their blocks, and how long each block still lives.
struct SegmentMap {
  static constexpr uint64_t kNever = UINT64_MAX;

  struct LiveBlock {
    uint64_t address = 0, bytes = 0;
    SiteIndex site;
    uint64_t birth = 0, death = kNever;  // times, counted in blocks allocated and freed so far

    // Returns whether this block keeps its segment longer than `other`; of two that are never freed, the younger one.
    bool StaysLongerThan(const LiveBlock& other) const {
      return std::tie(death, birth) > std::tie(other.death, other.birth);
    }
  };
  uint32_t step = 0;
  std::vector<SegmentLayout::Segment> segments;  // sorted by address
  std::vector<LiveBlock> blocks;                 // by address
};

// Returns whether two mappings are one piece of memory.
inline bool Continues(const SegmentLayout::Segment& before, const SegmentLayout::Segment& segment) {
  return before.mapped && segment.mapped && before.arena == segment.arena && before.small == segment.small &&
         before.begin + before.bytes == segment.begin;
}

// The memory that one site's blocks pin: the free bytes of the segments in which one of these blocks is the last to be
// freed.
struct Pin {
  SiteIndex site;
  uint64_t segments = 0, bytes = 0;
};

// The segments that serve the same requests.
struct PoolUse {
  uint32_t arena = 0;
  bool small = false;
  uint64_t segments = 0, reserved = 0, live = 0;
  uint64_t releasable = 0;    // bytes in segments without a block
  uint64_t largest_free = 0;  // bytes of the largest free piece
};

// Use of segments: reserved == live + free_releasable + free_pinned, to the byte.
struct SegmentUse {
  uint64_t reserved = 0, live = 0, free_releasable = 0, free_pinned = 0;
  std::vector<Pin> pins;       // most bytes first
  std::vector<PoolUse> pools;  // by arena, large segments first
};

SegmentUse UseOf(const SegmentMap& map);

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_SEGMENT_MAP_H_
