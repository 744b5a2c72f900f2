// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/segment_layout.h"

#include <algorithm>
#include <set>

namespace vramtrack::torch_allocator {

void SegmentLayout::AddMemory(Name name, uint64_t address, uint64_t bytes, bool mapped) {
  if (bytes == 0) return;
  RemoveMemory(address);
  Memory& memory = memory_[address];
  memory.name = name;
  memory.bytes = bytes;
  memory.mapped = mapped;
  last_added_ = placements_;
  if (!at_rest_) return;
  added_at_rest_.push_back({address, bytes});
  recent_.assign(kRecentExtents, {});
}

void SegmentLayout::AddAddresses(Name name, uint64_t address, uint64_t bytes) { addresses_[address] = {bytes, name}; }

void SegmentLayout::RemoveAddresses(uint64_t address) {
  const auto found = addresses_.find(address);
  if (found == addresses_.end()) return;
  const auto segment = range_segments_.find(found->second.second);
  if (segment != range_segments_.end()) {
    if (known_ == nullptr) guess_.OnGone(segment->second.first);
    range_segments_.erase(segment);
  }
  addresses_.erase(found);
}

Name SegmentLayout::RangeOf(uint64_t address) const {
  auto after = addresses_.upper_bound(address);
  if (after == addresses_.begin()) return {ThreadSlot::None(), address};
  --after;
  return address < after->first + after->second.first ? after->second.second : Name{ThreadSlot::None(), address};
}

bool SegmentLayout::RemoveMemory(uint64_t address) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) return false;
  if (!found->second.is_segment) {
    memory_.erase(found);
    if (at_rest_) recent_.assign(kRecentExtents, {});
    added_at_rest_.erase(std::remove_if(added_at_rest_.begin(), added_at_rest_.end(),
                                        [address](const auto& added) { return added.first == address; }),
                         added_at_rest_.end());
    return false;
  }
  Wake();
  last_change_ = placements_;
  const Memory memory = found->second;
  memory_.erase(found);
  reserved_ -= memory.bytes;
  const uint64_t end = address + memory.bytes;
  // What is left of live blocks in it comes from a damaged trace, or from the end of the process.
  for (uint64_t at = address; at < end;) {
    Block id = by_address_.Find(at);
    if (id == kNone) {
      // A free block that begins before it.
      const Block free = FreeBlockAt(at);
      if (free == kNone) break;
      blocks_.Erase(free);
      id = blocks_.CutOff(free, at - blocks_[free].address);
      blocks_.Insert(free);
      by_address_.Set(at, id);
      blocks_.Insert(id);
    }
    if (blocks_[id].free) {
      blocks_.Erase(id);
    } else {
      live_ -= blocks_[id].bytes;
    }
    if (at + blocks_[id].bytes > end) {
      const Block rest = blocks_.CutOff(id, end - at);
      blocks_[rest].free = true;
      by_address_.Set(end, rest);
      blocks_.Insert(rest);
    }
    const BlockLists::Block gone = blocks_[id];
    if (gone.previous != kNone) blocks_[gone.previous].next = kNone;
    if (gone.next != kNone) blocks_[gone.next].previous = kNone;
    by_address_.Erase(at);
    blocks_.Delete(id);
    at += gone.bytes;
  }
  if (known_ == nullptr && !memory.mapped) guess_.OnGone(memory.segment);
  return true;
}

// The free block that the address lies in.
SegmentLayout::Block SegmentLayout::FreeBlockAt(uint64_t address) {
  const Block exact = by_address_.Find(address);
  if (exact != kNone) return blocks_[exact].free ? exact : kNone;
  auto after = memory_.upper_bound(address);
  if (after == memory_.begin()) return kNone;
  --after;
  // A block may begin in an earlier mapping.
  Block first = by_address_.Find(after->first);
  while (first == kNone && after != memory_.begin() && after->second.mapped) {
    --after;
    first = by_address_.Find(after->first);
  }
  for (Block id = first; id != kNone && blocks_[id].address <= address; id = blocks_[id].next) {
    if (address < blocks_[id].address + blocks_[id].bytes) return blocks_[id].free ? id : kNone;
  }
  return kNone;
}

// Makes all memory a segment that a block at `address` reaches into. False: there is none.
bool SegmentLayout::Adopt(uint64_t address, uint64_t bytes, Placed* placed) {
  auto at = memory_.upper_bound(address);
  if (at == memory_.begin()) return false;
  --at;
  bool any = false;
  for (; at != memory_.end() && at->first < address + bytes; ++at) {
    if (at->second.is_segment || at->first + at->second.bytes <= address) continue;
    AdoptOne(at->first, &at->second, bytes);
    if (!at->second.mapped && at->first == address) placed->new_segment = {at->first, at->second.bytes};
    any = true;
  }
  return any;
}

void SegmentLayout::AdoptOne(uint64_t begin, Memory* memory, uint64_t bytes) {
  last_change_ = placements_;
  memory->is_segment = true;
  memory->age = segments_taken_++;
  memory->small = bytes <= kSmallRequestBytes;
  mapped_segments_ |= memory->mapped;
  reserved_ += memory->bytes;
  const Name name = memory->mapped ? RangeOf(begin) : memory->name;
  const auto range = memory->mapped ? range_segments_.find(name) : range_segments_.end();
  if (range != range_segments_.end()) {
    memory->segment = range->second.first;
  } else if (known_ != nullptr) {
    memory->segment = known_->Of(name);
  } else {
    memory->segment = guess_.Add(name, memory->small);
    // Of expandable segments there is one for each stream.
    for (const auto& [other, segment] : range_segments_) {
      if (memory->mapped && segment.second == memory->small) {
        guess_.OnPassedOver(memory->segment, segment.first, true, true);
      }
    }
  }
  if (memory->mapped) range_segments_[name] = {memory->segment, memory->small};
  const Block id = blocks_.New();
  BlockLists::Block& block = blocks_[id];
  block.address = begin;
  block.bytes = memory->bytes;
  block.expandable = memory->mapped;
  block.segment = memory->segment;
  block.pool = PoolOf(ArenaOfSegment(memory->segment), memory->small);
  block.age = memory->age;
  by_address_.Set(begin, id);
  if (memory->mapped) {
    const auto link = [this](Block left, Block right) {
      blocks_[left].next = right;
      blocks_[right].previous = left;
    };
    // The last block before it.
    const auto here = memory_.find(begin);
    if (here != memory_.begin()) {
      const auto before = std::prev(here);
      if (before->second.is_segment && before->second.segment == memory->segment &&
          before->first + before->second.bytes == begin) {
        auto first = std::make_reverse_iterator(here);
        Block last = by_address_.Find(before->first);
        while (last == kNone && first != memory_.rend()) last = by_address_.Find((first++)->first);
        if (last != kNone) {
          while (blocks_[last].next != kNone && blocks_[blocks_[last].next].address < begin) last = blocks_[last].next;
          if (last != id) link(last, id);
        }
      }
    }
    const Block behind = by_address_.Find(begin + memory->bytes);
    if (behind != kNone && blocks_[behind].segment == memory->segment) link(id, behind);
  }
  Merge(id);
}

SegmentLayout::Block SegmentLayout::Merge(Block id) {
  const auto swallow = [this, id](Block neighbour) {
    if (neighbour == kNone || !blocks_[neighbour].free) return;
    blocks_.Erase(neighbour);
    by_address_.Erase(std::max(blocks_[id].address, blocks_[neighbour].address));
    const bool begins_before = blocks_[neighbour].address < blocks_[id].address;
    blocks_.Join(id, neighbour);
    if (begins_before) by_address_.Set(blocks_[id].address, id);
  };
  swallow(blocks_[id].previous);
  swallow(blocks_[id].next);
  blocks_.Insert(id);
  return id;
}

// Whether the block that was taken is the one that fits best, of its arena.
void SegmentLayout::JudgePlace(Block id, uint64_t bytes, Placed* placed) {
  const BlockLists::Block& block = blocks_[id];
  if (known_ == nullptr) guess_.OnUse(block.segment);
  // An expandable segment weighs what it could grow by as well.
  if (block.expandable) return;
  const FreeList& free = blocks_.FreeOf(block.pool);
  const bool is_new = placed->new_segment.bytes > 0;
  int passed = 0;
  for (auto at = free.AtLeast(bytes); at != free.end() && passed < kMaxPassed; ++at) {
    if (at->id == id) {
      if (known_ != nullptr) break;
      continue;
    }
    if (!is_new && at->bytes > block.bytes) break;
    const BlockLists::Block& other = blocks_[at->id];
    if (known_ != nullptr) {
      placed->surprising = true;
      break;
    }
    // Of the same size it depends on how the allocator chooses between such.
    const bool as_good = !is_new && other.bytes == block.bytes;
    const bool lower = other.address < block.address;
    const bool older = std::make_pair(other.age, other.address) < std::make_pair(block.age, block.address);
    guess_.OnPassedOver(block.segment, other.segment, !as_good || lower, !as_good || older);
    ++passed;
  }
}

SegmentLayout::Placed SegmentLayout::Place(ThreadSlot slot, uint64_t address, uint64_t bytes) {
  Placed placed;
  if (bytes == 0) return placed;
  ++placements_;
  if (!at_rest_ && placements_ >= rest_after_ && placements_ - last_change_ >= settled_ &&
      placements_ - last_added_ >= kBlocksBeforeFirst) {
    Rest();
  }
  if (at_rest_) {
    if (PlaceAtRest(address, bytes, &placed)) return placed;
    Wake();
  }
  Block id = FreeBlockAt(address);
  if (id == kNone || blocks_[id].address + blocks_[id].bytes < address + bytes) {
    const Block live = by_address_.Find(address);
    if (live != kNone && !blocks_[live].free) Remove(address);
    Adopt(address, bytes, &placed);
    id = FreeBlockAt(address);
  }
  if (id == kNone || blocks_[id].address + blocks_[id].bytes < address + bytes) {
    placed = Placed();
    return placed;
  }
  if (blocks_[id].address == address) JudgePlace(id, bytes, &placed);
  blocks_.Erase(id);
  if (blocks_[id].address < address) {
    const Block rest = blocks_.CutOff(id, address - blocks_[id].address);
    blocks_.Insert(id);
    by_address_.Set(address, rest);
    id = rest;
  }
  if (blocks_[id].bytes > bytes) {
    const Block rest = blocks_.CutOff(id, bytes);
    by_address_.Set(blocks_[rest].address, rest);
    blocks_.Insert(rest);
  }
  BlockLists::Block& block = blocks_[id];
  block.free = false;
  live_ += bytes;
  placed.block = id;
  placed.arena = block.pool / 2;
  placed.segment = block.segment;
  placed.small = block.pool % 2 == 1;
  if (known_ != nullptr && known_->count > 1) last_arena_[{slot, block.pool % 2 == 1}] = placed.arena;
  return placed;
}

SegmentLayout::Block SegmentLayout::Remove(uint64_t address) {
  if (at_rest_) {
    const Block id = by_address_.Erase(address);
    if (id == kNone) return kNone;
    live_ -= blocks_[id].bytes;
    if (counts_uses_) ends_.Erase(address + blocks_[id].bytes);
    blocks_.Delete(id);
    return id;
  }
  const Block id = by_address_.Find(address);
  if (id == kNone || blocks_[id].free) return kNone;
  BlockLists::Block& block = blocks_[id];
  live_ -= block.bytes;
  block.free = true;
  Merge(id);
  return id;
}

// Forgets the free pieces.
void SegmentLayout::Rest() {
  std::vector<std::pair<uint64_t, Block>> free;
  by_address_.ForEach([&](uint64_t address, Block id) {
    if (blocks_[id].free) free.push_back({address, id});
  });
  std::sort(free.begin(), free.end());
  for (const auto& [address, id] : free) {
    blocks_.Erase(id);
    by_address_.Erase(address);
    blocks_.Delete(id);
  }
  at_rest_ = true;
  recent_.assign(kRecentExtents, {});
  if (!counts_uses_) return;
  by_address_.ForEach([&](uint64_t address, Block id) { ends_.Set(address + blocks_[id].bytes, id); });
}

SegmentLayout::Extent SegmentLayout::ExtentOf(uint64_t address, uint64_t bytes) const {
  auto at = memory_.upper_bound(address);
  if (at == memory_.begin()) return {};
  --at;
  const Memory& first = at->second;
  Extent extent = {at->first, at->first + first.bytes, &first};
  if (address >= extent.end) return {};
  if (!first.is_segment) return {extent.begin, extent.begin, &first};
  if (!first.mapped) return extent;
  const auto continues = [&first](const Memory& other) {
    return other.is_segment && other.mapped && other.segment == first.segment;
  };
  for (auto before = at; before != memory_.begin(); extent.begin = before->first) {
    --before;
    if (before->first + before->second.bytes != extent.begin || !continues(before->second)) break;
  }
  for (++at; extent.end < address + bytes && at != memory_.end() && at->first == extent.end && continues(at->second);
       ++at) {
    extent.end += at->second.bytes;
  }
  return extent;
}

bool SegmentLayout::PlaceAtRest(uint64_t address, uint64_t bytes, Placed* placed) {
  for (const auto& [begin, size] : added_at_rest_) {
    if (address < begin + size && begin < address + bytes) return false;
  }
  Extent& extent = recent_[(address >> kPageShift) % kRecentExtents];
  if (extent.memory == nullptr || address < extent.begin || address + bytes > extent.end) {
    extent = ExtentOf(address, bytes);
    if (extent.memory == nullptr) return true;  // in unknown memory
    if (address + bytes > extent.end) return false;
  }
  placed->block = blocks_.New();
  if (!by_address_.Add(address, placed->block)) {
    blocks_.Delete(placed->block);
    placed->block = kNone;
    return false;
  }
  BlockLists::Block& block = blocks_[placed->block];
  block.address = address;
  block.bytes = bytes;
  block.free = false;
  placed->segment = extent.memory->segment;
  placed->arena = ArenaOfSegment(extent.memory->segment);
  placed->small = extent.memory->small;
  if (counts_uses_) {
    // As JudgePlace() does: if it is at the beginning of a free piece.
    const bool at_beginning = address == extent.begin || ends_.Find(address) != kNone;
    if (at_beginning && known_ == nullptr) guess_.OnUse(extent.memory->segment);
    ends_.Set(address + bytes, placed->block);
  }
  live_ += bytes;
  return true;
}

void SegmentLayout::Wake() {
  if (!at_rest_) return;
  at_rest_ = false;
  recent_.clear();
  ends_ = {};
  last_change_ = placements_;
  added_at_rest_.clear();
  std::vector<std::pair<uint64_t, Block>> live;
  by_address_.ForEach([&live](uint64_t address, Block id) { live.push_back({address, id}); });
  std::sort(live.begin(), live.end());
  std::vector<std::pair<uint64_t, Block>> inside;
  auto next = live.begin();
  for (auto at = memory_.begin(); at != memory_.end();) {
    // Mappings that follow one another in the same segment are one piece of memory.
    const Memory& memory = at->second;
    const uint64_t begin = at->first;
    uint64_t end = begin + memory.bytes;
    for (++at; at != memory_.end() && memory.is_segment && memory.mapped && at->second.is_segment &&
               at->second.mapped && at->second.segment == memory.segment && at->first == end;
         ++at) {
      end += at->second.bytes;
    }
    if (!memory.is_segment) continue;
    while (next != live.end() && next->first < begin) Drop(*next++);
    inside.clear();
    uint64_t covered = begin;
    for (; next != live.end() && next->first < end; ++next) {
      const uint64_t block_end = next->first + blocks_[next->second].bytes;
      if (next->first < covered || block_end > end) {
        Drop(*next);
        continue;
      }
      inside.push_back(*next);
      covered = block_end;
    }
    CutExtent(begin, end, memory, inside);
  }
  while (next != live.end()) Drop(*next++);
}

// A block that lies in no segment, or in another block: only a damaged trace has such.
void SegmentLayout::Drop(const std::pair<uint64_t, Block>& block) {
  live_ -= blocks_[block.second].bytes;
  by_address_.Erase(block.first);
  blocks_.Delete(block.second);
}

// Cuts [begin, end), the memory of one segment, into the live blocks and the free pieces between them.
void SegmentLayout::CutExtent(uint64_t begin, uint64_t end, const Memory& memory,
                              const std::vector<std::pair<uint64_t, Block>>& live) {
  BlockLists::Block like;
  like.expandable = memory.mapped;
  like.segment = memory.segment;
  like.pool = PoolOf(ArenaOfSegment(memory.segment), memory.small);
  like.age = memory.age;
  Block last = kNone;
  const auto append = [&](Block id) {
    blocks_[id].previous = last;
    blocks_[id].next = kNone;
    if (last != kNone) blocks_[last].next = id;
    last = id;
  };
  const auto append_free = [&](uint64_t from, uint64_t to) {
    if (from == to) return;
    const Block id = blocks_.New();
    blocks_[id] = like;
    blocks_[id].address = from;
    blocks_[id].bytes = to - from;
    by_address_.Set(from, id);
    append(id);
    blocks_.Insert(id);
  };
  uint64_t at = begin;
  for (const auto& [address, id] : live) {
    append_free(at, address);
    BlockLists::Block block = like;
    block.address = address;
    block.bytes = blocks_[id].bytes;
    block.free = false;
    blocks_[id] = block;
    append(id);
    at = address + block.bytes;
  }
  append_free(at, end);
}

uint32_t SegmentLayout::ArenaOf(ThreadSlot slot, uint64_t bytes) const {
  const bool small = bytes <= kSmallRequestBytes;
  const auto found = last_arena_.find({slot, small});
  return found == last_arena_.end() ? 0 : found->second;
}

void SegmentLayout::OnReleased(uint64_t release) {
  if (known_ != nullptr) return;
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

Name SegmentLayout::SegmentAt(uint64_t address) const {
  auto at = memory_.upper_bound(address);
  if (at == memory_.begin()) return {};
  --at;
  return at->second.mapped ? RangeOf(at->first) : at->second.name;
}

std::vector<SegmentLayout::Segment> SegmentLayout::Segments() const {
  std::vector<Segment> segments;
  for (const auto& [begin, memory] : memory_) {
    if (memory.is_segment) {
      segments.push_back({begin, memory.bytes, ArenaOfSegment(memory.segment), memory.small, memory.mapped,
                          memory.mapped ? RangeOf(begin) : memory.name});
    }
  }
  return segments;
}

}  // namespace vramtrack::torch_allocator
