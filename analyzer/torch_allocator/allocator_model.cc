// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/allocator_model.h"

#include <algorithm>

namespace vramtrack::torch_allocator {

void AllocatorModel::SetPrivate(uint32_t arena, bool is_private) {
  if (arena >= private_.size()) private_.resize(arena + 1);
  private_[arena] = is_private;
}

AllocatorModel::Block AllocatorModel::Allocate(uint32_t arena, uint64_t request, const SegmentHint& hint) {
  const uint64_t bytes = BlockBytes(request, settings_.roundup_power2_divisions);
  const bool small = bytes <= kSmallRequestBytes;
  const uint32_t pool = PoolOf(arena, small);
  Block block = TakeFree(pool, bytes);
  if (block == none()) block = NewSegment(pool, bytes, hint);
  if (block == none()) {
    EmptyCache();
    block = NewSegment(pool, bytes, hint);
  }
  if (block == none()) {
    ++failures_;
    return block;
  }
  const uint64_t rest = block->second.bytes - bytes;
  if (small || settings_.expandable_segments ? rest >= kMinBlockBytes : rest > kSmallRequestBytes) {
    blocks_.List(blocks_.CutOff(block, bytes));
  }
  block->second.free = false;
  return block;
}

// The smallest that has room, of those the one with the lowest address. It is not listed any more.
AllocatorModel::Block AllocatorModel::TakeFree(uint32_t pool, uint64_t bytes) {
  const BlockMap::FreeList& free = blocks_.FreeOf(pool);
  auto found = free.lower_bound({bytes, 0, 0, none()});
  if (found == free.end()) return none();
  if (settings_.expandable_segments) {
    // A block at the end of what is mapped is as large as it can become.
    const auto room = [this](Block block) {
      const Block next = blocks_.After(block);
      return block->second.bytes + (next != none() && !next->second.mapped ? next->second.bytes : 0);
    };
    for (auto next = std::next(found); next != free.end() && room(next->id) < room(found->id); ++next) found = next;
  }
  const Block block = found->id;
  blocks_.Unlist(block);
  return block;
}

AllocatorModel::Block AllocatorModel::NewSegment(uint32_t pool, uint64_t bytes, const SegmentHint& hint) {
  if (settings_.expandable_segments) return Expand(pool, bytes);
  BlockMap::Block segment;
  segment.bytes = SegmentBytes(bytes);
  segment.pool = pool;
  if (!Reserve(segment.bytes)) return none();
  segment.segment = segments_taken_++;
  if (hint.bytes == segment.bytes && blocks_.IsVacant(hint.address, hint.bytes)) {
    return blocks_.Add(hint.address, segment);
  }
  std::set<uint64_t>& returned = returned_[segment.bytes];
  if (returned.empty()) returned.insert(std::exchange(next_address_, next_address_ + segment.bytes));
  return blocks_.Add(returned.extract(returned.begin()).value(), segment);
}

bool AllocatorModel::Reserve(uint64_t bytes) {
  if (bytes > limit_ || reserved_ > limit_ - bytes) return false;
  reserved_ += bytes;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  return true;
}

// Expandable segments reserve more addresses than a device has memory. Memory is mapped where a block needs it, in
// granules of 2 MiB for small blocks and 20 MiB for large ones.
AllocatorModel::Block AllocatorModel::Expand(uint32_t pool, uint64_t bytes) {
  Block block = ExpandableRoom(pool, bytes);
  if (!block->second.mapped) block = Map(block, std::min(block->second.bytes, bytes));
  while (block != none() && block->second.bytes < bytes) {
    const Block next = blocks_.After(block);
    block = Map(next, std::min(bytes - block->second.bytes, next->second.bytes));
  }
  if (block != none()) blocks_.Unlist(block);
  return block;
}

// The lowest run of free and of unmapped addresses that has room; a new segment where there is none.
AllocatorModel::Block AllocatorModel::ExpandableRoom(uint32_t pool, uint64_t bytes) {
  const auto is_free = [this](Block block) { return block != none() && block->second.free; };
  for (const BlockMap::FreeKey& unmapped : blocks_.UnmappedOf(pool)) {
    const Block before = blocks_.Before(unmapped.id);
    const Block first = is_free(before) ? before : unmapped.id;
    uint64_t room = 0;
    for (Block block = first; room < bytes && is_free(block); block = blocks_.After(block)) room += block->second.bytes;
    if (room >= bytes) return first;
  }
  BlockMap::Block segment;
  segment.bytes = kExpandableBytes;
  segment.pool = pool;
  segment.segment = segments_taken_++;
  segment.mapped = false;
  segment.expandable = true;
  const Block block = blocks_.Add(next_expandable_, segment);
  next_expandable_ += kExpandableBytes;
  blocks_.List(block);
  return block;
}

// Maps memory to the beginning of an unmapped block. Returns the free block that has it, which may begin before it;
// none() if there is no memory.
AllocatorModel::Block AllocatorModel::Map(Block block, uint64_t bytes) {
  const uint64_t granule = GranuleOf(block->second.pool);
  const uint64_t mapped = (bytes + granule - 1) / granule * granule;
  if (!Reserve(mapped)) return none();
  blocks_.Unlist(block);
  if (mapped < block->second.bytes) blocks_.List(blocks_.CutOff(block, mapped));
  block->second.mapped = true;
  return blocks_.MakeFree(block);
}

// An empty segment, or all granules that lie within a free block of an expandable one.
std::pair<uint64_t, uint64_t> AllocatorModel::Releasable(Block block) {
  const uint64_t begin = block->first, end = begin + block->second.bytes;
  if (!block->second.expandable) return {begin, blocks_.IsSplit(block) ? begin : end};
  const uint64_t granule = GranuleOf(block->second.pool);
  const uint64_t base = begin - (begin - kExpandableAddresses) % kExpandableBytes;
  const uint64_t first = base + (begin - base + granule - 1) / granule * granule;
  return {first, std::max(first, base + (end - base) / granule * granule)};
}

void AllocatorModel::EmptyCache() {
  std::vector<Block> free;
  for (uint32_t pool = 0; pool < blocks_.pools(); ++pool) {
    if (IsPrivate(pool)) continue;
    for (const BlockMap::FreeKey& key : blocks_.FreeOf(pool)) free.push_back(key.id);
  }
  for (const Block block : free) Unmap(block);
}

// Returns what can be returned of a free block to the driver.
void AllocatorModel::Unmap(Block block) {
  const auto [begin, end] = Releasable(block);
  if (begin == end) return;
  reserved_ -= end - begin;
  blocks_.Unlist(block);
  if (!block->second.expandable) {
    if (begin >= kOwnAddresses) returned_[end - begin].insert(begin);
    blocks_.Remove(block);
    return;
  }
  if (block->first < begin) {
    const Block rest = blocks_.CutOff(block, begin - block->first);
    blocks_.List(block);
    block = rest;
  }
  if (block->second.bytes > end - begin) blocks_.List(blocks_.CutOff(block, end - begin));
  block->second.mapped = false;
  block = blocks_.MakeFree(block);
  if (block->second.bytes < kExpandableBytes) return;
  blocks_.Unlist(block);
  blocks_.Remove(block);
}

uint64_t AllocatorModel::LargestPossible(uint32_t arena, uint64_t bytes) {
  const uint32_t wanted = PoolOf(arena, bytes <= kSmallRequestBytes);
  // What could be released, and the largest hole that could not.
  uint64_t kept = reserved_, hole = 0;
  for (uint32_t pool = 0; pool < blocks_.pools(); ++pool) {
    for (const BlockMap::FreeKey& free : blocks_.FreeOf(pool)) {
      if (pool == wanted) hole = std::max(hole, free.bytes);
      const auto [begin, end] = Releasable(free.id);
      if (!IsPrivate(pool)) kept -= end - begin;
    }
  }
  return std::max(hole, limit_ > kept ? limit_ - kept : 0);
}

}  // namespace vramtrack::torch_allocator
