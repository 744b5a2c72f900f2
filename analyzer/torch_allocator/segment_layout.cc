// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/segment_layout.h"

#include <algorithm>

namespace vramtrack::torch_allocator {

void SegmentLayout::AddMemory(uint64_t address, uint64_t bytes, bool mapped) {
  if (bytes == 0) return;
  RemoveMemory(address);
  last_change_ = placements_;
  Memory& memory = memory_[address];
  memory.bytes = bytes;
  memory.mapped = mapped;
}

void SegmentLayout::AddAddresses(uint64_t address, uint64_t bytes) {
  RemoveAddresses(address);
  addresses_[address] = bytes;
}

void SegmentLayout::RemoveAddresses(uint64_t address) {
  if (addresses_.erase(address) == 0) return;
  const auto segment = range_segments_.find(address);
  if (segment == range_segments_.end()) return;
  guess_.OnGone(segment->second.segment);
  range_segments_.erase(segment);
}

// The first of the reserved addresses that a mapping is in; the mapping's own if they are unknown.
uint64_t SegmentLayout::RangeOf(uint64_t address) const {
  auto range = addresses_.upper_bound(address);
  if (range == addresses_.begin()) return address;
  --range;
  return address - range->first < range->second ? range->first : address;
}

bool SegmentLayout::RemoveMemory(uint64_t address) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) return false;
  last_change_ = placements_;
  const Memory memory = found->second;
  memory_.erase(found);
  if (!memory.is_segment) return false;
  const uint64_t end = address + memory.bytes;
  CutAt(address);
  CutAt(end);
  reserved_ -= memory.bytes;
  // Live blocks are left in it only in a damaged trace, or at the end of the process.
  for (Block block = blocks_.At(address); block != blocks_.none() && block->first < end;
       block = blocks_.Remove(block)) {
    if (block->second.free) blocks_.Unlist(block);
  }
  if (!memory.mapped) guess_.OnGone(memory.segment);
  return true;
}

bool SegmentLayout::HasRoom(Block block, uint64_t address, uint64_t bytes) {
  return block != blocks_.none() && block->second.free && block->first + block->second.bytes >= address + bytes;
}

// The free piece that has room there, for which all memory becomes a segment that the block reaches into; none() for
// unknown memory.
SegmentLayout::Block SegmentLayout::FindRoom(uint64_t address, uint64_t bytes, SegmentHint* new_segment) {
  Block block = blocks_.At(address);
  if (HasRoom(block, address, bytes)) return block;
  if (block != blocks_.none() && block->first == address) Remove(address);
  auto at = memory_.upper_bound(address);
  if (at != memory_.begin()) --at;
  for (; at != memory_.end() && at->first < address + bytes; ++at) {
    Memory& memory = at->second;
    if (memory.is_segment || at->first + memory.bytes <= address) continue;
    MakeSegment(at->first, bytes <= kSmallRequestBytes, &memory);
    AddFree(at->first, memory);
    if (!memory.mapped && at->first == address) *new_segment = {at->first, memory.bytes};
  }
  block = blocks_.At(address);
  return HasRoom(block, address, bytes) ? block : blocks_.none();
}

void SegmentLayout::MakeSegment(uint64_t begin, bool small, Memory* memory) {
  last_change_ = placements_;
  memory->is_segment = true;
  memory->small = small;
  mapped_segments_ |= memory->mapped;
  reserved_ += memory->bytes;
  if (!memory->mapped) {
    memory->segment = guess_.Add(small);
  } else if (const auto known = range_segments_.find(RangeOf(begin)); known != range_segments_.end()) {
    memory->segment = known->second.segment;
    known->second.small = small;
  } else {
    memory->segment = guess_.Add(small);
    // Of expandable segments there is one for each stream.
    for (const auto& [other, segment] : range_segments_) {
      if (segment.small == small) guess_.OnPassedOver(memory->segment, segment.segment, true, true);
    }
    range_segments_[RangeOf(begin)] = {memory->segment, small};
  }
}

// Makes the memory of a segment one free piece.
void SegmentLayout::AddFree(uint64_t begin, const Memory& memory) {
  BlockMap::Block block;
  block.bytes = memory.bytes;
  block.pool = memory.small ? 1 : 0;
  block.segment = memory.segment;
  block.expandable = memory.mapped;
  blocks_.MakeFree(blocks_.Add(begin, block));
}

// Cuts the block at the address in two. The second one is free.
void SegmentLayout::CutAt(uint64_t address) {
  const Block block = blocks_.At(address);
  if (block == blocks_.none() || block->first == address) return;
  if (block->second.free) blocks_.Unlist(block);
  const Block rest = blocks_.CutOff(block, address - block->first);
  if (block->second.free) blocks_.List(block);
  rest->second.free = true;
  blocks_.List(rest);
}

// Infers arenas: the block that was taken should be the one that fits best, of its arena.
void SegmentLayout::JudgePlace(Block block, uint64_t bytes, bool is_new) {
  guess_.OnUse(block->second.segment);
  // An expandable segment weighs what it could grow by as well.
  if (block->second.expandable) return;
  const BlockMap::FreeList& free = blocks_.FreeOf(block->second.pool);
  int passed = 0;
  for (auto at = free.lower_bound({bytes, 0, 0, block}); at != free.end() && passed < kMaxPassed; ++at) {
    if (at->id == block) continue;
    if (!is_new && at->bytes > block->second.bytes) break;
    // Of the same size it depends on how the allocator chooses between such.
    const uint32_t segment = block->second.segment, other = at->id->second.segment;
    const bool as_good = !is_new && at->bytes == block->second.bytes;
    const bool lower = at->address < block->first;
    const bool older = std::make_pair(other, at->address) < std::make_pair(segment, block->first);
    guess_.OnPassedOver(segment, other, !as_good || lower, !as_good || older);
    ++passed;
  }
}

// Makes a part of a free piece a block.
SegmentLayout::Block SegmentLayout::Occupy(Block free, uint64_t address, uint64_t bytes) {
  Block block = free;
  blocks_.Unlist(free);
  if (free->first < address) {
    block = blocks_.CutOff(free, address - free->first);
    blocks_.List(free);
  }
  if (block->second.bytes > bytes) blocks_.List(blocks_.CutOff(block, bytes));
  block->second.free = false;
  return block;
}

SegmentLayout::Placed SegmentLayout::Place(uint64_t address, uint64_t bytes) {
  Placed placed;
  if (bytes == 0) return placed;
  ++placements_;
  Block block = FindRoom(address, bytes, &placed.new_segment);
  if (block == blocks_.none()) return {};
  if (block->first == address) JudgePlace(block, bytes, placed.new_segment.bytes > 0);
  block = Occupy(block, address, bytes);
  if (unused_numbers_.empty()) unused_numbers_.push_back(next_number_++);
  placed.block = block->second.number = unused_numbers_.back();
  unused_numbers_.pop_back();
  placed.segment = block->second.segment;
  placed.small = block->second.pool == 1;
  return placed;
}

uint32_t SegmentLayout::Remove(uint64_t address) {
  const Block block = blocks_.At(address);
  if (block == blocks_.none() || block->first != address || block->second.free) return kNone;
  const uint32_t number = block->second.number;
  unused_numbers_.push_back(number);
  blocks_.MakeFree(block);
  return number;
}

void SegmentLayout::Rest() {
  at_rest_ = true;
  blocks_ = BlockMap(/*oldest_first=*/false);
}

void SegmentLayout::Wake(const std::vector<std::pair<uint64_t, uint64_t>>& live) {
  at_rest_ = false;
  for (const auto& [begin, memory] : memory_) {
    if (memory.is_segment) AddFree(begin, memory);
  }
  SegmentHint unused;
  for (const auto& [address, bytes] : live) {
    const Block block = FindRoom(address, bytes, &unused);
    if (block != blocks_.none()) Occupy(block, address, bytes)->second.number = next_number_++;
  }
}

void SegmentLayout::OnReleased(uint64_t release) {
  std::vector<ArenaGuess::Segment> kept;
  for (uint32_t pool = 0; pool < blocks_.pools(); ++pool) {
    for (const BlockMap::FreeKey& free : blocks_.FreeOf(pool)) {
      if (!free.id->second.expandable && !blocks_.IsSplit(free.id)) kept.push_back(free.id->second.segment);
    }
  }
  std::sort(kept.begin(), kept.end());
  guess_.OnKept(release, kept);
}

std::vector<SegmentLayout::Segment> SegmentLayout::Segments() const {
  std::vector<Segment> segments;
  for (const auto& [begin, memory] : memory_) {
    if (memory.is_segment) segments.push_back({begin, memory.bytes, memory.small, memory.mapped, memory.segment, 0});
  }
  return segments;
}

}  // namespace vramtrack::torch_allocator
