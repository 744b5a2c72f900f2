// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/block_sizes.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// kSmallSize of CUDACachingAllocator.cpp: blocks above are cut only if more than this is left of them.
constexpr uint64_t kMostLeftOver = 1 << 20;
constexpr size_t kMostSizes = 64;

ProfileBlockSize* Find(uint64_t bytes, std::vector<ProfileBlockSize>* sizes) {
  for (ProfileBlockSize& size : *sizes) {
    if (size.bytes == bytes) return &size;
  }
  return nullptr;
}

double ShareAskedFor(const BlockSizes& of, const BlockSizes& other) {
  double got = 0, asked = 0;
  for (const ProfileBlockSize& size : of.sizes) {
    uint64_t least = size.bytes, least_exact = size.bytes;
    for (const BlockSizes* known : {&of, &other}) {
      for (const ProfileBlockSize& one : known->sizes) {
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
  if (many) return;
  ProfileBlockSize* size = Find(bytes, &sizes);
  if (size == nullptr) {
    many = sizes.size() == kMostSizes;
    if (many) return sizes.clear();
    sizes.push_back({bytes, 0, 0});
    size = &sizes.back();
  }
  ++size->count;
  size->exact += exact;
}

void BlockSizes::Join(const BlockSizes& other) {
  many |= other.many;
  for (const ProfileBlockSize& one : other.sizes) {
    if (ProfileBlockSize* same = Find(one.bytes, &sizes)) {
      same->count += one.count;
      same->exact += one.exact;
    } else {
      sizes.push_back(one);
    }
  }
}

std::pair<double, double> BlockSizes::AskedFor(const BlockSizes& base, const BlockSizes& next) {
  if (base.many || next.many) return {1, 1};
  return {ShareAskedFor(base, next), ShareAskedFor(next, base)};
}

}  // namespace vramtrack
