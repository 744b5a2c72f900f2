// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/allocator_model.h"

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
  if (block == kNone) {
    block = NewSegment(pool, bytes, hint);
    if (block == kNone) {
      EmptyCache();
      block = NewSegment(pool, bytes, hint);
    }
    if (block == kNone) {
      ++failures_;
      return kNone;
    }
  }
  const uint64_t rest = blocks_[block].bytes - bytes;
  if (small || settings_.expandable_segments ? rest >= kMinBlockBytes : rest > kSmallRequestBytes) {
    blocks_.Insert(blocks_.CutOff(block, bytes));
  }
  blocks_[block].free = false;
  return block;
}

// The smallest that has room, of those the one with the lowest address; in no set any more.
AllocatorModel::Block AllocatorModel::TakeFree(uint32_t pool, uint64_t bytes) {
  const FreeList& free = blocks_.FreeOf(pool);
  auto found = free.AtLeast(bytes);
  if (found == free.end()) return kNone;
  if (settings_.expandable_segments) {
    // A block at the end of what is mapped is as large as it can become.
    const auto room = [this](Block id) {
      const BlockLists::Block& block = blocks_[id];
      const bool grows = block.next != kNone && !blocks_[block.next].mapped;
      return block.bytes + (grows ? blocks_[block.next].bytes : 0);
    };
    auto next = found;
    for (++next; blocks_[found->id].expandable && next != free.end() && room(next->id) < room(found->id); ++next) {
      found = next;
    }
  }
  const Block block = found->id;
  blocks_.Erase(block);
  return block;
}

AllocatorModel::Block AllocatorModel::NewSegment(uint32_t pool, uint64_t bytes, const SegmentHint& hint) {
  const uint64_t segment = SegmentBytes(bytes);
  if (settings_.expandable_segments) return Expand(pool, bytes);
  if (segment > limit_ || reserved_ > limit_ - segment) return kNone;
  const Block id = blocks_.New();
  BlockLists::Block& block = blocks_[id];
  block.address = PlaceSegment(segment, hint);
  block.bytes = segment;
  block.pool = pool;
  block.age = segments_taken_++;
  segments_[block.address] = id;
  Reserve(segment);
  return id;
}

uint64_t AllocatorModel::PlaceSegment(uint64_t bytes, const SegmentHint& hint) {
  if (hint.bytes == bytes) {
    const auto after = segments_.lower_bound(hint.address);
    const bool room_behind = after == segments_.end() || after->first >= hint.address + bytes;
    bool room_before = true;
    if (after != segments_.begin()) {
      const auto before = std::prev(after);
      uint64_t end = before->first;
      for (Block id = before->second; id != kNone; id = blocks_[id].next) end += blocks_[id].bytes;
      room_before = end <= hint.address;
    }
    if (room_behind && room_before) return hint.address;
  }
  auto& returned = returned_[bytes];
  if (!returned.empty()) {
    const uint64_t address = *returned.begin();
    returned.erase(returned.begin());
    return address;
  }
  next_address_ += bytes;
  return next_address_ - bytes;
}

void AllocatorModel::Free(Block block) {
  if (block == kNone) return;
  blocks_[block].free = true;
  Merge(block);
}

// Joins it with its free neighbours and puts it into its pool.
AllocatorModel::Block AllocatorModel::Merge(Block block) {
  const bool moved = MergeWith(block, blocks_[block].previous);
  MergeWith(block, blocks_[block].next);
  BlockLists::Block& merged = blocks_[block];
  if (moved && merged.previous == kNone) segments_[merged.address] = block;
  if (merged.mapped) {
    blocks_.Insert(block);
  } else {
    unmapped_[merged.pool][merged.address] = block;
  }
  return block;
}

bool AllocatorModel::MergeWith(Block block, Block neighbour) {
  if (neighbour == kNone || !blocks_[neighbour].free || blocks_[neighbour].mapped != blocks_[block].mapped)
    return false;
  if (blocks_[neighbour].mapped) {
    blocks_.Erase(neighbour);
  } else {
    unmapped_[blocks_[neighbour].pool].erase(blocks_[neighbour].address);
  }
  blocks_.Join(block, neighbour);
  return true;
}

void AllocatorModel::EmptyCache() {
  std::vector<Block> expandable, whole;
  for (uint32_t pool = 0; pool < blocks_.pools(); ++pool) {
    if (IsPrivate(pool)) continue;
    for (const FreeKey& key : blocks_.FreeOf(pool)) {
      const BlockLists::Block& block = blocks_[key.id];
      if (block.expandable) {
        expandable.push_back(key.id);
      } else if (!blocks_.IsSplit(block)) {
        whole.push_back(key.id);
      }
    }
  }
  for (const Block block : whole) Release(block);
  for (const Block block : expandable) Unmap(block);
}

// Gives a segment back that is one free block.
void AllocatorModel::Release(Block id) {
  const BlockLists::Block block = blocks_[id];
  blocks_.Erase(id);
  reserved_ -= block.bytes;
  segments_.erase(block.address);
  if (block.address >= kOwnAddresses) returned_[block.bytes].insert(block.address);
  blocks_.Delete(id);
}

uint64_t AllocatorModel::LargestPossible(uint32_t arena, uint64_t bytes) const {
  const uint32_t pool = PoolOf(arena, bytes <= kSmallRequestBytes);
  // What could be given back, and the largest hole that could not.
  uint64_t kept = reserved_, hole = 0;
  for (const auto& [address, first] : segments_) {
    for (Block id = first; id != kNone; id = blocks_[id].next) {
      const BlockLists::Block& block = blocks_[id];
      if (!block.free || !block.mapped) continue;
      if (block.pool == pool) hole = std::max(hole, block.bytes);
      if (IsPrivate(block.pool)) continue;
      if (block.expandable) {
        const uint64_t granule = GranuleOf(block.pool), offset = block.address - address;
        const uint64_t begin = (offset + granule - 1) / granule, end = (offset + block.bytes) / granule;
        if (end > begin) kept -= (end - begin) * granule;
      } else if (!blocks_.IsSplit(block)) {
        kept -= block.bytes;
      }
    }
  }
  return std::max(hole, limit_ > kept ? limit_ - kept : 0);
}

}  // namespace vramtrack::torch_allocator
