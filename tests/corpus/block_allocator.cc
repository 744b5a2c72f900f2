// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/block_allocator.h"

#include <algorithm>
#include <iterator>

namespace vramtrack::corpus {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBlockUnit = 512;
constexpr uint64_t kSmallLimit = kMiB;  // larger blocks are cut from other segments
constexpr uint64_t kSmallSegment = 2 * kMiB;
constexpr uint64_t kLargeSegment = 20 * kMiB;
constexpr uint64_t kHugeLimit = 10 * kMiB;  // larger ones have a segment of their own size
constexpr uint64_t kHugeUnit = 2 * kMiB;

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

uint64_t SegmentFor(uint64_t bytes) {
  if (bytes <= kSmallLimit) return kSmallSegment;
  return bytes < kHugeLimit ? kLargeSegment : RoundUp(bytes, kHugeUnit);
}

}  // namespace

BlockAllocator::Block BlockAllocator::Allocate(uint64_t bytes, uint32_t pool) {
  const uint64_t size = std::max(kBlockUnit, RoundUp(bytes, kBlockUnit));
  const bool small = size <= kSmallLimit;
  Block block;
  auto found = free_.lower_bound({pool, small, size, 0});
  if (found == free_.end() || std::get<0>(*found) != pool || std::get<1>(*found) != small) {
    Piece segment;
    segment.bytes = SegmentFor(size);
    segment.segment = next_segment_;
    segment.pool = pool;
    segment.small = small;
    segment.free = true;
    block.new_segment = next_segment_;
    block.new_segment_bytes = segment.bytes;
    pieces_[next_segment_] = segment;
    found = free_.insert(KeyOf(next_segment_, segment)).first;
    // A hole behind each: segments are never joined.
    next_segment_ += RoundUp(segment.bytes, kHugeUnit) + kHugeUnit;
  }
  block.address = std::get<3>(*found);
  free_.erase(found);
  Piece& piece = pieces_[block.address];
  const uint64_t left = piece.bytes - size;
  if (small ? left >= kBlockUnit : left > kSmallLimit) {
    Piece rest = piece;
    rest.bytes = left;
    piece.bytes = size;
    pieces_[block.address + size] = rest;
    free_.insert(KeyOf(block.address + size, rest));
  }
  piece.free = false;
  block.bytes = piece.bytes;
  return block;
}

void BlockAllocator::Free(uint64_t address) {
  auto at = pieces_.find(address);
  const auto next = std::next(at);
  if (next != pieces_.end() && next->second.free && next->second.segment == at->second.segment) {
    at->second.bytes += next->second.bytes;
    free_.erase(KeyOf(next->first, next->second));
    pieces_.erase(next);
  }
  if (at != pieces_.begin()) {
    const auto previous = std::prev(at);
    if (previous->second.free && previous->second.segment == at->second.segment) {
      free_.erase(KeyOf(previous->first, previous->second));
      previous->second.bytes += at->second.bytes;
      pieces_.erase(at);
      at = previous;
    }
  }
  at->second.free = true;
  free_.insert(KeyOf(at->first, at->second));
}

}  // namespace vramtrack::corpus
