// SPDX-License-Identifier: Apache-2.0
//
// Expandable segments reserve more addresses than a device has memory. Memory is mapped where a block needs it, in
// granules of 2 MiB for small blocks and 20 MiB for large ones.
#include <algorithm>

#include "analyzer/fragmentation/torch_allocator/allocator_model.h"

namespace vramtrack::torch_allocator {

// The lowest run of free and of unmapped addresses that has room; a new segment where there is none.
AllocatorModel::Block AllocatorModel::ExpandableRoom(uint32_t pool, uint64_t bytes) {
  if (pool >= unmapped_.size()) unmapped_.resize(pool + 1);
  const auto is_free = [this](Block id) { return id != kNone && blocks_[id].free; };
  for (const auto& [address, unmapped] : unmapped_[pool]) {
    Block first = unmapped;
    if (is_free(blocks_[first].previous)) first = blocks_[first].previous;
    uint64_t room = 0;
    for (Block id = first; room < bytes && is_free(id); id = blocks_[id].next) room += blocks_[id].bytes;
    if (room >= bytes) return first;
  }
  const Block id = blocks_.New();
  BlockLists::Block& block = blocks_[id];
  block.address = kExpandableAddresses + expandable_segments_++ * kExpandableBytes;
  block.bytes = kExpandableBytes;
  block.pool = pool;
  block.mapped = false;
  block.expandable = true;
  block.segment = static_cast<uint32_t>(expandable_segments_ - 1);
  segments_[block.address] = id;
  unmapped_[pool][block.address] = id;
  return id;
}

// Maps memory to the beginning of an unmapped block, which becomes a free one.
bool AllocatorModel::Map(Block id, uint64_t bytes) {
  const uint32_t pool = blocks_[id].pool;
  const uint64_t granule = GranuleOf(pool);
  const uint64_t mapped = (bytes + granule - 1) / granule * granule;
  if (mapped > limit_ || reserved_ > limit_ - mapped) return false;
  unmapped_[pool].erase(blocks_[id].address);
  if (mapped < blocks_[id].bytes) {
    const Block rest = blocks_.CutOff(id, mapped);
    unmapped_[pool][blocks_[rest].address] = rest;
  }
  blocks_[id].mapped = true;
  Reserve(mapped);
  Merge(id);
  return true;
}

AllocatorModel::Block AllocatorModel::Expand(uint32_t pool, uint64_t bytes) {
  Block block = ExpandableRoom(pool, bytes);
  if (!blocks_[block].mapped && !Map(block, std::min(blocks_[block].bytes, bytes))) return kNone;
  while (blocks_[block].bytes < bytes) {
    const Block next = blocks_[block].next;
    if (!Map(next, std::min(bytes - blocks_[block].bytes, blocks_[next].bytes))) return kNone;
    block = next;  // which has swallowed the block before it
  }
  blocks_.Erase(block);
  return block;
}

// Takes the memory from all granules that lie within a free block.
void AllocatorModel::Unmap(Block id) {
  const uint32_t pool = blocks_[id].pool;
  const uint64_t granule = GranuleOf(pool);
  const uint64_t base = kExpandableAddresses + blocks_[id].segment * kExpandableBytes;
  const uint64_t offset = blocks_[id].address - base;
  const uint64_t begin = (offset + granule - 1) / granule * granule;
  const uint64_t end = (offset + blocks_[id].bytes) / granule * granule;
  if (begin >= end) return;
  blocks_.Erase(id);
  Block block = id;
  if (begin > offset) {
    block = blocks_.CutOff(id, begin - offset);
    blocks_.Insert(id);
  }
  if (blocks_[block].bytes > end - begin) blocks_.Insert(blocks_.CutOff(block, end - begin));
  blocks_[block].mapped = false;
  reserved_ -= end - begin;
  Merge(block);
  if (blocks_[block].bytes == kExpandableBytes) {
    unmapped_[pool].erase(base);
    segments_.erase(base);
    blocks_.Delete(block);
  }
}

}  // namespace vramtrack::torch_allocator
