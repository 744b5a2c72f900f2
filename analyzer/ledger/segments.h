// SPDX-License-Identifier: Apache-2.0
//
// Which of the driver's memory a framework's allocator cuts its blocks from. Nothing in a trace says "this cudaMalloc
// is a segment": the blocks that come to lie in it do.
#ifndef ANALYZER_LEDGER_SEGMENTS_H_
#define ANALYZER_LEDGER_SEGMENTS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analyzer/base/indices.h"

namespace vramtrack {

// The address ranges of one device's driver memory, of which those that ever held a block are segments: memory from
// cudaMalloc as a whole, an expandable segment by its mappings. About constant time for a block within one range.
// Thread-compatible.
class Segments {
 public:
  using Name = AllocationName;  // of the driver

  struct Range {
    uint64_t begin = 0, bytes = 0;
    Name memory;            // the allocation that pays for it
    SiteIndex site;         // of that allocation
    bool mapped = false;    // a mapping, which the allocator joins with its neighbours
    bool of_graph = false;  // of a CUDA graph's private pool, whose room nothing else can use
    uint64_t live = 0;      // bytes of blocks in it
    bool is_segment = false;
    uint64_t counted = 0;  // what it adds to counted(): 0 for the second view of memory that is mapped twice
  };

  // Memory at an address. What was known there before is gone.
  void AddRange(uint64_t begin, uint64_t bytes, Name memory, SiteIndex site, bool mapped, bool of_graph);
  // The range that begins there, which ends; `bytes` is 0 where there is none.
  Range RemoveRange(uint64_t begin);

  // A block of `bytes`. Returns the ranges that are segments from now on; valid until the next call.
  const std::vector<const Range*>& AddBlock(uint64_t address, uint64_t bytes);
  void RemoveBlock(uint64_t address, uint64_t bytes);

  uint64_t counted() const { return counted_; }                // bytes of segments
  uint64_t placed() const { return placed_; }                  // bytes of blocks in known ranges
  uint64_t kept_by_graphs() const { return kept_by_graphs_; }  // bytes of graphs' segments without a live block
  uint64_t releasable() const { return releasable_; }          // bytes of segments without a live block

  // Whether all of [address, address + bytes) lies in a segment of a graph's private pool.
  bool IsInGraphPool(uint64_t address, uint64_t bytes);

  // The longest run of free bytes within a segment, given the live blocks of the device as (address, bytes) in order.
  uint64_t LargestHole(const std::vector<std::pair<uint64_t, uint64_t>>& blocks) const {
    return LargestHoles(blocks).any;
  }

  // PyTorch's allocator keeps blocks of up to 1 MiB in segments of 2 MiB, and all others in larger ones.
  static constexpr uint64_t kSmallSegment = 2 << 20;
  struct Holes {
    uint64_t any = 0;
    uint64_t small = 0, large = 0;  // by the segment's size
    bool mapped = false;            // there are segments that grow, whose size does not say what they are for
  };
  Holes LargestHoles(const std::vector<std::pair<uint64_t, uint64_t>>& blocks) const;

 private:
  static constexpr int kPageShift = 21;  // most ranges begin and end at pages of 2 MiB
  static constexpr size_t kRecent = 4096;

  struct Recent {
    uint64_t page = UINT64_MAX;
    Range* range = nullptr;
  };

  // The range that has all of [address, address + bytes), or null.
  Range* Whole(uint64_t address, uint64_t bytes);
  template <typename Visit>
  void ForEachPart(uint64_t address, uint64_t bytes, Visit visit);
  void Forget(const Range& range);  // which ends
  void AddLive(Range* range, uint64_t bytes);
  void RemoveLive(Range* range, uint64_t bytes);

  std::map<uint64_t, Range> ranges_;                           // by begin; ranges stay where they are
  std::vector<Recent> recent_ = std::vector<Recent>(kRecent);  // by page
  absl::flat_hash_set<Name> counted_memory_;
  std::vector<const Range*> recognised_;
  uint64_t counted_ = 0, placed_ = 0, kept_by_graphs_ = 0, releasable_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SEGMENTS_H_
