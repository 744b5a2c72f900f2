// SPDX-License-Identifier: Apache-2.0
//
// Estimates how much of a block's size was requested. PyTorch's allocator hands out a cached block whole if it is at
// most one mebibyte larger than requested, so the same code gets blocks of other sizes when it finds other blocks in
// the cache. A block with a free piece after it was cut off: its size is the requested one.
#ifndef ANALYZER_PROFILE_BLOCK_SIZES_H_
#define ANALYZER_PROFILE_BLOCK_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analyzer/ledger/live_table.h"

namespace vramtrack {

// Knows where large blocks and the driver's allocations begin and end on the devices.
class BlockNeighbours {
 public:
  // Adds an allocation. Returns whether a framework's block was cut off; none if the block is too small for the
  // question, or if it is not a block. `kind`: schema::Kind.
  std::optional<bool> Allocate(const LiveAllocation& allocation, uint32_t kind);
  void Free(const LiveAllocation& allocation, uint32_t kind);

 private:
  static uint64_t Place(const LiveAllocation& allocation, uint64_t offset) { return allocation.place + offset; }

  absl::flat_hash_set<uint64_t> taken_;  // addresses where large blocks begin
  absl::flat_hash_set<uint64_t> ends_;   // addresses where the driver's allocations end
};

// Blocks of a site that have the same size.
struct ProfileBlockSize {
  uint64_t bytes = 0, count = 0;
  uint64_t exact = 0;  // how many of them were requested in that size, as far as is known
};

// The sizes of the large blocks of a site. Plain data.
struct BlockSizes {
  std::vector<ProfileBlockSize> sizes;
  bool many = false;  // there were too many sizes to keep; there are none then

  void Add(uint64_t bytes, bool exact);
  // Adds those of another site of the same run; their number has no limit then.
  void Join(const BlockSizes& other);

  // Returns for each of two sites the bytes that its blocks would have had if each had got the requested size, as far
  // as that is known, as a share of the bytes they had. Both are 1 if there are too many sizes.
  static std::pair<double, double> AskedFor(const BlockSizes& base, const BlockSizes& next);
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_BLOCK_SIZES_H_
