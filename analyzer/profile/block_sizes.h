// SPDX-License-Identifier: Apache-2.0
//
// What of a block's size was asked for. PyTorch's allocator hands out a cached block of up to a mebibyte more than was
// asked for whole, so that the same code gets blocks of other sizes when it finds others in the cache. A block that is
// followed by a free piece was cut off: its size is what was asked for.
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

// What lies beside what on the devices.
class BlockNeighbours {
 public:
  // Whether a framework's block was cut off; none: it is not large enough to be anything else, or no block. `kind`:
  // schema::Kind.
  std::optional<bool> Allocate(const LiveAllocation& allocation, uint32_t kind);
  void Free(const LiveAllocation& allocation, uint32_t kind);

 private:
  static uint64_t Place(const LiveAllocation& allocation, uint64_t offset) {
    return uint64_t{allocation.device_number} << 56 | (allocation.address + offset);
  }

  absl::flat_hash_set<uint64_t> taken_;  // where large blocks begin
  absl::flat_hash_set<uint64_t> ends_;   // of the driver's allocations
};

// The sizes of the large blocks of a site.
class BlockSizes {
 public:
  struct Size {
    uint64_t bytes, count, exact;
  };

  BlockSizes() = default;
  // As sizes() and many() have them.
  BlockSizes(std::vector<Size> sizes, bool many) : sizes_(std::move(sizes)), many_(many) {}

  void Add(uint64_t bytes, bool exact);

  const std::vector<Size>& sizes() const { return sizes_; }
  bool many() const { return many_; }  // too many to tell anything by them

  // What the blocks of both sites would come to had each got what it asked for, as far as that is known, as a share of
  // what they got. 1 where the sizes are too many to tell.
  static std::pair<double, double> AskedFor(const BlockSizes& base, const BlockSizes& next);

 private:
  static constexpr size_t kMostSizes = 64;

  double AskedFor(const BlockSizes& other) const;

  std::vector<Size> sizes_;
  bool many_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_BLOCK_SIZES_H_
