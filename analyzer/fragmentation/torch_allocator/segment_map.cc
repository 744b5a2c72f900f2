// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/segment_map.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramtrack::torch_allocator {

SegmentUse UseOf(const SegmentMap& map) {
  SegmentUse use;
  std::map<SiteIndex, Pin> pins;
  std::map<std::pair<uint32_t, bool>, PoolUse> pools;
  auto first = map.blocks.begin();
  const SegmentLayout::Segment* before = nullptr;
  uint64_t free = 0;  // bytes of the free piece so far, which may go on in the next mapping
  for (const SegmentLayout::Segment& segment : map.segments) {
    if (before == nullptr || !Continues(*before, segment)) free = 0;
    before = &segment;
    PoolUse& pool = pools[{segment.arena, segment.small}];
    pool.arena = segment.arena;
    pool.small = segment.small;
    const uint64_t end = segment.begin + segment.bytes;
    while (first != map.blocks.end() && first->address + first->bytes <= segment.begin) ++first;
    const SegmentMap::LiveBlock* last_to_go = nullptr;
    uint64_t live = 0, at = segment.begin;
    const auto add_free = [&](uint64_t to) {
      if (to > at) free += to - at;
      pool.largest_free = std::max(pool.largest_free, free);
    };
    for (auto block = first; block != map.blocks.end() && block->address < end; ++block) {
      const uint64_t to = std::min(block->address + block->bytes, end);
      if (to <= at) continue;
      add_free(block->address);
      free = 0;
      live += to - std::max(block->address, at);
      at = to;
      if (last_to_go == nullptr || block->StaysLongerThan(*last_to_go)) last_to_go = &*block;
    }
    add_free(end);
    ++pool.segments;
    pool.reserved += segment.bytes;
    pool.live += live;
    use.reserved += segment.bytes;
    use.live += live;
    if (last_to_go == nullptr) {
      use.free_releasable += segment.bytes;
      pool.releasable += segment.bytes;
    } else if (live < segment.bytes) {
      use.free_pinned += segment.bytes - live;
      Pin& pin = pins[last_to_go->site];
      pin.site = last_to_go->site;
      ++pin.segments;
      pin.bytes += segment.bytes - live;
    }
  }
  for (const auto& [key, pool] : pools) use.pools.push_back(pool);
  for (const auto& [site, pin] : pins) use.pins.push_back(pin);
  std::stable_sort(use.pins.begin(), use.pins.end(), [](const Pin& a, const Pin& b) { return a.bytes > b.bytes; });
  return use;
}

}  // namespace vramtrack::torch_allocator
