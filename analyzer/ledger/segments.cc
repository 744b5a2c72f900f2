// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/segments.h"

#include <algorithm>

namespace vramtrack {

const std::vector<const Segments::Range*>& Segments::AddRange(uint64_t begin, uint64_t bytes, Name memory,
                                                              SiteIndex site, SiteIndex mapping, bool of_graph) {
  recognised_.clear();
  if (bytes == 0) return recognised_;
  RemoveRange(begin);
  Range& range = ranges_[begin];
  range.begin = begin;
  range.bytes = bytes;
  range.memory = memory;
  range.site = site;
  range.mapping = mapping;
  range.of_graph = of_graph;
  if (const auto slept = asleep_.find(begin); slept != asleep_.end()) {
    if (range.mapped() && slept->second.bytes == bytes) AddLive(&range, slept->second.live);
    asleep_.erase(slept);
  }
  return recognised_;
}

Segments::Range Segments::RemoveRange(uint64_t begin) {
  const auto found = ranges_.find(begin);
  if (found == ranges_.end()) return {};
  Forget(found->second);
  const Range gone = found->second;
  ranges_.erase(found);
  placed_ -= gone.live;
  counted_ -= gone.counted;
  if (gone.of_graph && gone.is_segment) {
    KeepForGraph(gone, -static_cast<int64_t>(gone.bytes - std::min(gone.bytes, gone.live)));
  }
  if (gone.counted > 0) counted_memory_.erase(gone.memory);
  if (gone.is_segment && gone.live == 0) releasable_ -= gone.counted;
  if (gone.mapped() && gone.live > 0) asleep_[begin] = gone;
  return gone;
}

void Segments::Forget(const Range& range) {
  const uint64_t first = range.begin >> kPageShift, pages = (range.bytes >> kPageShift) + 2;
  if (pages >= kRecent) {
    recent_.assign(kRecent, {});
    return;
  }
  for (uint64_t page = first; page < first + pages; ++page) {
    if (recent_[page % kRecent].range == &range) recent_[page % kRecent] = {};
  }
}

Segments::Range* Segments::Whole(uint64_t address, uint64_t bytes) {
  const uint64_t page = address >> kPageShift;
  Recent& recent = recent_[page % kRecent];
  if (__builtin_expect(recent.page == page, 1)) {
    Range* range = recent.range;
    if (address >= range->begin && address + bytes <= range->begin + range->bytes) return range;
  }
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  Range* range = &std::prev(after)->second;
  if (address + bytes > range->begin + range->bytes) return nullptr;
  recent = {page, range};
  return range;
}

template <typename Visit>
void Segments::ForEachPart(uint64_t address, uint64_t bytes, Visit visit) {
  const uint64_t end = address + bytes;
  auto at = ranges_.upper_bound(address);
  if (at != ranges_.begin()) --at;
  for (; at != ranges_.end() && at->second.begin < end; ++at) {
    Range& range = at->second;
    const uint64_t from = std::max(address, range.begin), to = std::min(end, range.begin + range.bytes);
    if (from < to) visit(&range, to - from);
  }
}

void Segments::AddLive(Range* range, uint64_t bytes) {
  if (!range->is_segment) {
    range->is_segment = true;
    range->counted = counted_memory_.insert(range->memory).second ? range->bytes : 0;
    counted_ += range->counted;
    if (range->of_graph) KeepForGraph(*range, static_cast<int64_t>(range->bytes));
    recognised_.push_back(range);
  } else if (range->live == 0) {
    releasable_ -= range->counted;
  }
  if (range->of_graph) {
    const uint64_t before = std::min(range->live, range->bytes);
    KeepForGraph(*range,
                 static_cast<int64_t>(before) - static_cast<int64_t>(std::min(range->live + bytes, range->bytes)));
  }
  range->live += bytes;
  placed_ += bytes;
}

void Segments::RemoveLive(Range* range, uint64_t bytes) {
  // A block may be older than the range, in a damaged trace.
  bytes = std::min(bytes, range->live);
  if (bytes == 0) return;
  if (range->of_graph) {
    const uint64_t before = std::min(range->live, range->bytes);
    KeepForGraph(*range,
                 static_cast<int64_t>(before) - static_cast<int64_t>(std::min(range->live - bytes, range->bytes)));
  }
  range->live -= bytes;
  placed_ -= bytes;
  if (range->live == 0) releasable_ += range->counted;
}

bool Segments::IsInGraphPool(uint64_t address) {
  const Range* range = Whole(address, 1);
  return range != nullptr && range->of_graph;
}

const std::vector<const Segments::Range*>& Segments::AddBlock(uint64_t address, uint64_t bytes) {
  recognised_.clear();
  if (bytes == 0) return recognised_;
  if (Range* range = Whole(address, bytes)) {
    AddLive(range, bytes);
  } else {
    ForEachPart(address, bytes, [this](Range* part, uint64_t overlap) { AddLive(part, overlap); });
  }
  return recognised_;
}

void Segments::RemoveBlock(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  if (Range* range = Whole(address, bytes)) {
    RemoveLive(range, bytes);
  } else {
    ForEachPart(address, bytes, [this](Range* part, uint64_t overlap) { RemoveLive(part, overlap); });
    if (!asleep_.empty()) RemoveAsleep(address, bytes);
  }
}

void Segments::RemoveAsleep(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  auto at = asleep_.upper_bound(address);
  if (at != asleep_.begin()) --at;
  while (at != asleep_.end() && at->second.begin < end) {
    Range& range = at->second;
    const uint64_t from = std::max(address, range.begin), to = std::min(end, range.begin + range.bytes);
    if (from < to) range.live -= std::min(range.live, to - from);
    at = range.live == 0 ? asleep_.erase(at) : std::next(at);
  }
}

Segments::Holes Segments::LargestHoles(const std::vector<std::pair<uint64_t, uint64_t>>& blocks) const {
  Holes holes;
  auto block = blocks.begin();
  for (auto at = ranges_.begin(); at != ranges_.end();) {
    const uint64_t begin = at->first;
    const bool is_segment = at->second.is_segment, mapped = at->second.mapped();
    uint64_t end = begin + at->second.bytes;
    for (++at; at != ranges_.end() && mapped && at->second.mapped() && at->first == end && at->second.is_segment;
         ++at) {
      end += at->second.bytes;
    }
    if (!is_segment) continue;
    uint64_t largest = 0;
    uint64_t free_from = begin;
    for (; block != blocks.end() && block->first < end; ++block) {
      if (block->first > free_from) largest = std::max(largest, block->first - free_from);
      free_from = std::max(free_from, block->first + block->second);
    }
    if (end > free_from) largest = std::max(largest, end - free_from);
    uint64_t& of_size = end - begin == kSmallSegment ? holes.small : holes.large;
    of_size = std::max(of_size, largest);
    holes.any = std::max(holes.any, largest);
    holes.mapped |= mapped;
  }
  return holes;
}

}  // namespace vramtrack
