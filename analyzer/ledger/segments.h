// SPDX-License-Identifier: Apache-2.0
//
// Finds the segments of a framework's allocator: the driver's memory that it divides into blocks. A trace does not
// record which cudaMalloc is a segment. Memory becomes a segment when a block is allocated in it.
#ifndef ANALYZER_LEDGER_SEGMENTS_H_
#define ANALYZER_LEDGER_SEGMENTS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analyzer/base/indices.h"

namespace vramtrack {

// The address ranges of one device's driver memory. A range that has ever contained a block is a segment. Memory from
// cudaMalloc is one range; an expandable segment has one range for each mapping. A block within one range takes about
// constant time. Thread-compatible.
class Segments {
 public:
  using Name = AllocationName;  // identity of a driver allocation

  // What each block reads comes first, in one cache line.
  struct alignas(64) Range {
    uint64_t begin = 0, bytes = 0;
    uint64_t live = 0;     // bytes of blocks in it
    uint64_t counted = 0;  // its part of counted(); 0 for the second view of memory that is mapped twice
    SiteIndex site;        // the site of the allocation that provides the memory
    SiteIndex mapping;     // the site of the mapping; none where the memory has its own address
    bool is_segment = false;
    bool of_graph = false;  // part of a CUDA graph's private pool, which nothing else can use
    Name memory;            // the allocation that provides the memory

    bool mapped() const { return !mapping.is_none(); }  // the allocator joins it with its neighbours
  };

  // Adds a range. A range that began at the same address is replaced. A mapping where one of the same size was removed
  // with live blocks in it has woken up: the blocks that are still live are in it again. Returns the ranges that became
  // segments by it; the result is valid until the next call.
  const std::vector<const Range*>& AddRange(uint64_t begin, uint64_t bytes, Name memory, SiteIndex site,
                                            SiteIndex mapping, bool of_graph);
  // Removes the range that begins at `begin` and returns it. `bytes` of the result is 0 if there is none.
  Range RemoveRange(uint64_t begin);

  // Adds a block. Returns the ranges that became segments by it; the result is valid until the next call.
  const std::vector<const Range*>& AddBlock(uint64_t address, uint64_t bytes);
  void RemoveBlock(uint64_t address, uint64_t bytes);

  uint64_t counted() const { return counted_; }                // bytes of segments
  uint64_t placed() const { return placed_; }                  // bytes of blocks in known ranges
  uint64_t kept_by_graphs() const { return kept_by_graphs_; }  // bytes of graphs' segments without a live block
  uint64_t releasable() const { return releasable_; }          // bytes of segments without a live block

  // Returns mappings that were removed with live blocks in them, by address.
  const std::map<uint64_t, Range>& asleep() const { return asleep_; }
  // What kept_by_graphs() has changed by since the last call, by the site that provides the memory.
  std::vector<std::pair<SiteIndex, int64_t>> TakeGraphChanges() { return std::exchange(graph_changes_, {}); }

  // Returns whether the address is in a segment of a graph's private pool.
  bool IsInGraphPool(uint64_t address);

  // PyTorch's allocator keeps blocks of up to 1 MiB in segments of 2 MiB, and all others in larger ones.
  static constexpr uint64_t kSmallSegment = 2 << 20;
  struct Holes {
    uint64_t any = 0;
    uint64_t small = 0, large = 0;  // in small and in large segments
    bool mapped = false;            // there are expandable segments, whose size does not tell small from large
  };
  // Returns the longest runs of free bytes within a segment. `blocks`: the live blocks of the device as (address,
  // bytes), ascending.
  Holes LargestHoles(const std::vector<std::pair<uint64_t, uint64_t>>& blocks) const;

 private:
  static constexpr int kPageShift = 21;  // most ranges begin and end at pages of 2 MiB
  static constexpr size_t kRecent = 4096;

  struct Recent {
    uint64_t page = UINT64_MAX;
    Range* range = nullptr;
  };

  // Returns the range that contains all of [address, address + bytes), or null.
  Range* Whole(uint64_t address, uint64_t bytes);
  template <typename Visit>
  void ForEachPart(uint64_t address, uint64_t bytes, Visit visit);
  void Forget(const Range& range);  // removes a range that ends from recent_
  void RemoveAsleep(uint64_t address, uint64_t bytes);
  void AddLive(Range* range, uint64_t bytes);
  void RemoveLive(Range* range, uint64_t bytes);
  void KeepForGraph(const Range& range, int64_t bytes) {
    kept_by_graphs_ += static_cast<uint64_t>(bytes);
    graph_changes_.emplace_back(range.site, bytes);
  }

  std::map<uint64_t, Range> ranges_;                           // by begin; pointers to ranges stay valid
  std::vector<Recent> recent_ = std::vector<Recent>(kRecent);  // by page
  absl::flat_hash_set<Name> counted_memory_;
  std::vector<const Range*> recognised_;
  std::vector<std::pair<SiteIndex, int64_t>> graph_changes_;
  uint64_t counted_ = 0, placed_ = 0, kept_by_graphs_ = 0, releasable_ = 0;
  std::map<uint64_t, Range> asleep_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SEGMENTS_H_
