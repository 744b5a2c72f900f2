// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/segment_layout.h"

#include <algorithm>
#include <utility>

namespace vramtrack::torch_allocator {

void SegmentLayout::AddMemory(uint64_t address, uint64_t bytes, bool mapped) {
  if (bytes == 0) return;
  RemoveMemory(address);
  Wake();
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
  Wake();
  last_change_ = placements_;
  const Memory memory = found->second;
  if (!memory.is_segment) {
    memory_.erase(found);
    return false;
  }
  const uint64_t end = address + memory.bytes;
  CutAt(address);
  CutAt(end);
  memory_.erase(found);
  reserved_ -= memory.bytes;
  // Live blocks are left in it only in a damaged trace, or at the end of the process.
  for (auto at = by_address_.find(address); at != by_address_.end() && at->first < end;) {
    const Block id = at->second;
    const BlockLists::Block gone = blocks_[id];
    if (gone.free) blocks_.Erase(id);
    if (gone.previous != kNone) blocks_[gone.previous].next = kNone;
    if (gone.next != kNone) blocks_[gone.next].previous = kNone;
    blocks_.Delete(id);
    by_address_.erase(at);
    at = by_address_.find(gone.address + gone.bytes);
  }
  if (!memory.mapped) guess_.OnGone(memory.segment);
  return true;
}

// The block that contains the address.
SegmentLayout::Block SegmentLayout::BlockAt(uint64_t address) const {
  if (const auto exact = by_address_.find(address); exact != by_address_.end()) return exact->second;
  auto memory = memory_.upper_bound(address);
  // It may begin in an earlier mapping.
  auto first = by_address_.end();
  while (first == by_address_.end() && memory != memory_.begin()) {
    --memory;
    first = by_address_.find(memory->first);
    if (!memory->second.mapped) break;
  }
  for (Block id = first == by_address_.end() ? kNone : first->second; id != kNone; id = blocks_[id].next) {
    const BlockLists::Block& block = blocks_[id];
    if (address < block.address + block.bytes) return block.address <= address ? id : kNone;
  }
  return kNone;
}

bool SegmentLayout::HasRoom(Block id, uint64_t address, uint64_t bytes) const {
  return id != kNone && blocks_[id].free && blocks_[id].address + blocks_[id].bytes >= address + bytes;
}

// Makes all memory a segment that a block at `address` reaches into.
void SegmentLayout::Adopt(uint64_t address, uint64_t bytes, Placed* placed) {
  auto at = memory_.upper_bound(address);
  if (at == memory_.begin()) return;
  for (--at; at != memory_.end() && at->first < address + bytes; ++at) {
    Memory& memory = at->second;
    if (memory.is_segment || at->first + memory.bytes <= address) continue;
    MakeSegment(at->first, bytes <= kSmallRequestBytes, &memory);
    if (!at_rest_) AddFree(at->first, memory);
    if (!memory.mapped && at->first == address) placed->new_segment = {at->first, memory.bytes};
  }
}

void SegmentLayout::MakeSegment(uint64_t begin, bool small, Memory* memory) {
  last_change_ = placements_;
  memory->is_segment = true;
  memory->age = segments_taken_++;
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

// Makes the memory of a new segment one free block.
void SegmentLayout::AddFree(uint64_t begin, const Memory& memory) {
  const Block before = memory.mapped ? BlockAt(begin - 1) : kNone, id = blocks_.New();
  Fill(id, memory, begin, memory.bytes);
  const auto behind = by_address_.find(begin + memory.bytes);
  const auto link = [&](Block left, Block right) {
    if (blocks_[left].segment != blocks_[right].segment) return;
    blocks_[left].next = right;
    blocks_[right].previous = left;
  };
  if (before != kNone) link(before, id);
  if (memory.mapped && behind != by_address_.end()) link(id, behind->second);
  Merge(id);
}

void SegmentLayout::Fill(Block id, const Memory& memory, uint64_t address, uint64_t bytes) {
  BlockLists::Block& block = blocks_[id] = {};
  block.address = address;
  block.bytes = bytes;
  block.expandable = memory.mapped;
  block.segment = memory.segment;
  block.pool = memory.small ? 1 : 0;
  block.age = memory.age;
  by_address_[address] = id;
}

// Joins a free block with its free neighbours, and lists it.
void SegmentLayout::Merge(Block id) {
  for (const Block neighbour : {blocks_[id].previous, blocks_[id].next}) {
    if (neighbour == kNone || !blocks_[neighbour].free) continue;
    blocks_.Erase(neighbour);
    by_address_.erase(std::max(blocks_[id].address, blocks_[neighbour].address));
    blocks_.Join(id, neighbour);
  }
  by_address_[blocks_[id].address] = id;
  blocks_.Insert(id);
}

// Cuts the block in two that lies on both sides of the address. The second one is free.
void SegmentLayout::CutAt(uint64_t address) {
  const Block id = BlockAt(address);
  if (id == kNone || blocks_[id].address == address) return;
  if (blocks_[id].free) blocks_.Erase(id);
  const Block rest = blocks_.CutOff(id, address - blocks_[id].address);
  blocks_[rest].free = true;
  by_address_[address] = rest;
  for (const Block part : {id, rest}) {
    if (blocks_[part].free) blocks_.Insert(part);
  }
}

// Infers arenas: the block that was taken should be the one that fits best, of its arena.
void SegmentLayout::JudgePlace(Block id, uint64_t bytes, const Placed& placed) {
  const BlockLists::Block& block = blocks_[id];
  guess_.OnUse(block.segment);
  // An expandable segment weighs what it could grow by as well.
  if (block.expandable) return;
  const FreeList& free = blocks_.FreeOf(block.pool);
  const bool is_new = placed.new_segment.bytes > 0;
  int passed = 0;
  for (auto at = free.AtLeast(bytes); at != free.end() && passed < kMaxPassed; ++at) {
    if (at->id == id) continue;
    if (!is_new && at->bytes > block.bytes) break;
    const BlockLists::Block& other = blocks_[at->id];
    // Of the same size it depends on how the allocator chooses between such.
    const bool as_good = !is_new && other.bytes == block.bytes;
    const bool lower = other.address < block.address;
    const bool older = std::make_pair(other.age, other.address) < std::make_pair(block.age, block.address);
    guess_.OnPassedOver(block.segment, other.segment, !as_good || lower, !as_good || older);
    ++passed;
  }
}

SegmentLayout::Placed SegmentLayout::Place(uint64_t address, uint64_t bytes) {
  Placed placed;
  if (bytes == 0) return placed;
  ++placements_;
  if (!at_rest_ && placements_ >= rest_after_ && is_settled()) Rest();
  if (at_rest_) {
    if (const auto [at, is_new] = by_address_.try_emplace(address, kNone); is_new) {
      placed.block = at->second = blocks_.New();
      BlockLists::Block& block = blocks_[placed.block];
      block.address = address;
      block.bytes = bytes;
      block.free = false;
      return placed;
    }
    Wake();
  }
  Block id = BlockAt(address);
  if (!HasRoom(id, address, bytes)) {
    if (id != kNone && blocks_[id].address == address) Remove(address);
    Adopt(address, bytes, &placed);
    id = BlockAt(address);
  }
  if (!HasRoom(id, address, bytes)) return {};
  if (blocks_[id].address == address) JudgePlace(id, bytes, placed);
  blocks_.Erase(id);
  if (blocks_[id].address < address) {
    const Block rest = blocks_.CutOff(id, address - blocks_[id].address);
    blocks_.Insert(id);
    by_address_[address] = rest;
    id = rest;
  }
  if (blocks_[id].bytes > bytes) {
    const Block rest = blocks_.CutOff(id, bytes);
    by_address_[address + bytes] = rest;
    blocks_.Insert(rest);
  }
  BlockLists::Block& block = blocks_[id];
  block.free = false;
  placed.block = id;
  placed.segment = block.segment;
  placed.small = block.pool == 1;
  return placed;
}

SegmentLayout::Block SegmentLayout::Remove(uint64_t address) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end() || blocks_[found->second].free) return kNone;
  const Block id = found->second;
  if (at_rest_) {
    by_address_.erase(found);
    blocks_.Delete(id);
  } else {
    blocks_[id].free = true;
    Merge(id);
  }
  return id;
}

// Forgets the free pieces.
void SegmentLayout::Rest() {
  at_rest_ = true;
  absl::erase_if(by_address_, [this](const auto& at) {
    if (!blocks_[at.second].free) return false;
    blocks_.Erase(at.second);
    blocks_.Delete(at.second);
    return true;
  });
}

void SegmentLayout::Wake() {
  if (!at_rest_) return;
  std::vector<std::pair<uint64_t, Block>> live(by_address_.begin(), by_address_.end());
  std::sort(live.begin(), live.end());
  Placed unused;
  for (const auto& [address, id] : live) Adopt(address, blocks_[id].bytes, &unused);
  by_address_.clear();
  at_rest_ = false;
  last_change_ = placements_;
  auto next = live.begin();
  for (auto at = memory_.begin(); at != memory_.end();) {
    // Mappings that follow one another in the same segment are one piece of memory.
    const Memory& memory = at->second;
    uint64_t reached = at->first, end = reached + memory.bytes;
    for (++at; at != memory_.end() && memory.mapped && memory.is_segment && at->first == end && at->second.mapped &&
               at->second.is_segment && at->second.segment == memory.segment;
         ++at) {
      end += at->second.bytes;
    }
    if (!memory.is_segment) continue;
    Block last = kNone;
    const auto append = [&](Block id, uint64_t to) {
      Fill(id, memory, reached, to - reached);
      blocks_[id].previous = last;
      if (last != kNone) blocks_[last].next = id;
      reached = to;
      last = id;
    };
    const auto append_free = [&](uint64_t to) {
      if (reached == to) return;
      append(blocks_.New(), to);
      blocks_.Insert(last);
    };
    for (; next != live.end() && next->first < end; ++next) {
      const auto [address, id] = *next;
      const uint64_t bytes = blocks_[id].bytes;
      if (address < reached || address + bytes > end) {
        blocks_.Delete(id);  // outside of all segments, or in another block: only a damaged trace has such
        continue;
      }
      append_free(address);
      append(id, address + bytes);
      blocks_[id].free = false;
    }
    append_free(end);
  }
  for (; next != live.end(); ++next) blocks_.Delete(next->second);
}

void SegmentLayout::OnReleased(uint64_t release) {
  std::vector<ArenaGuess::Segment> kept;
  for (uint32_t pool = 0; pool < blocks_.pools(); ++pool) {
    for (const FreeKey& key : blocks_.FreeOf(pool)) {
      const BlockLists::Block& block = blocks_[key.id];
      if (!block.expandable && !blocks_.IsSplit(block)) kept.push_back(block.segment);
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
