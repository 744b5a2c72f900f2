// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/block_sizes.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// kSmallSize of CUDACachingAllocator.cpp: blocks above are cut only if more than this is left of them.
constexpr uint64_t kMostLeftOver = 1 << 20;

}  // namespace

std::optional<bool> BlockNeighbours::Allocate(const LiveAllocation& allocation, uint32_t kind) {
  if (IsDeviceRange(kind)) ends_.insert(Place(allocation, allocation.bytes));
  if (allocation.bytes <= kMostLeftOver || LevelOf(kind) != Level::kFramework) return std::nullopt;
  taken_.insert(Place(allocation, 0));
  const uint64_t end = Place(allocation, allocation.bytes);
  return taken_.count(end) == 0 && ends_.count(end) == 0;
}

void BlockNeighbours::Free(const LiveAllocation& allocation, uint32_t kind) {
  if (IsDeviceRange(kind)) ends_.erase(Place(allocation, allocation.bytes));
  if (allocation.bytes > kMostLeftOver && LevelOf(kind) == Level::kFramework) taken_.erase(Place(allocation, 0));
}

void BlockSizes::Add(uint64_t bytes, bool exact) {
  if (many_) return;
  auto size = std::find_if(sizes_.begin(), sizes_.end(), [bytes](const Size& one) { return one.bytes == bytes; });
  if (size == sizes_.end()) {
    many_ = sizes_.size() == kMostSizes;
    if (many_) return;
    size = sizes_.insert(size, {bytes, 0, 0});
  }
  ++size->count;
  size->exact += exact;
}

double BlockSizes::AskedFor(const BlockSizes& other) const {
  double got = 0, asked = 0;
  for (const Size& size : sizes_) {
    uint64_t least = size.bytes, least_exact = size.bytes;
    for (const BlockSizes* sizes : {this, &other}) {
      for (const Size& one : sizes->sizes_) {
        if (one.bytes >= size.bytes || one.bytes + kMostLeftOver < size.bytes) continue;
        least = std::min(least, one.bytes);
        if (one.exact > 0) least_exact = std::min(least_exact, one.bytes);
      }
    }
    const double count = static_cast<double>(size.count);
    got += count * static_cast<double>(size.bytes);
    asked += count * static_cast<double>(size.exact > 0 ? size.bytes : least_exact < size.bytes ? least_exact : least);
  }
  return got == 0 ? 1 : asked / got;
}

std::pair<double, double> BlockSizes::AskedFor(const BlockSizes& base, const BlockSizes& next) {
  if (base.many_ || next.many_) return {1, 1};
  return {base.AskedFor(next), next.AskedFor(base)};
}

}  // namespace vramtrack
