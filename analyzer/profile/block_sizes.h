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

// The sizes of the large blocks of a site.
class BlockSizes {
 public:
  struct Size {
    uint64_t bytes, count, exact;
  };

  BlockSizes() = default;
  // Takes what sizes() and many() of another object returned.
  BlockSizes(std::vector<Size> sizes, bool many) : sizes_(std::move(sizes)), many_(many) {}

  void Add(uint64_t bytes, bool exact);

  const std::vector<Size>& sizes() const { return sizes_; }
  bool many() const { return many_; }  // there were too many sizes to keep

  // Returns for each of two sites the bytes that its blocks would have had if each had got the requested size, as far
  // as that is known, as a share of the bytes they had. Both are 1 if there are too many sizes.
  static std::pair<double, double> AskedFor(const BlockSizes& base, const BlockSizes& next);

 private:
  static constexpr size_t kMostSizes = 64;

  double AskedFor(const BlockSizes& other) const;

  std::vector<Size> sizes_;
  bool many_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_BLOCK_SIZES_H_
