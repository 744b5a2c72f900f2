// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/segment_map.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramtrack::torch_allocator {
namespace {

using LiveBlock = SegmentMap::LiveBlock;

// Which of two blocks keeps a segment longer; of two that are never freed, the younger one.
bool StaysLonger(const LiveBlock& one, const LiveBlock& other) {
  return std::make_pair(one.death, one.birth) > std::make_pair(other.death, other.birth);
}

}  // namespace

SegmentUse UseOf(const SegmentMap& map) {
  SegmentUse use;
  std::map<SiteIndex, Pin> pins;
  std::map<std::pair<uint32_t, bool>, PoolUse> pools;
  std::map<std::pair<uint32_t, bool>, std::vector<uint64_t>> holes;
  std::map<std::pair<uint32_t, bool>, uint64_t> counts;  // of blocks
  auto first = map.blocks.begin();
  uint64_t hole_begin = 0, hole_end = 0;  // the last free piece, which goes on in the next mapping
  const std::pair<uint32_t, bool>* hole_pool = nullptr;
  const auto close_hole = [&] {
    if (hole_pool != nullptr && hole_end > hole_begin) holes[*hole_pool].push_back(hole_end - hole_begin);
    hole_pool = nullptr;
  };
  std::pair<uint32_t, bool> key;
  for (const SegmentLayout::Segment& segment : map.segments) {
    const uint64_t end = segment.begin + segment.bytes;
    const std::pair<uint32_t, bool> pool_key = {segment.arena, segment.small};
    if (hole_pool != nullptr && (!segment.mapped || hole_end != segment.begin || key != pool_key)) close_hole();
    key = pool_key;
    PoolUse& pool = pools[key];
    pool.arena = segment.arena;
    pool.small = segment.small;
    ++pool.segments;
    pool.reserved += segment.bytes;
    while (first != map.blocks.end() && first->address + first->bytes <= segment.begin) ++first;
    const LiveBlock* last_to_go = nullptr;
    uint64_t live = 0, at = segment.begin;
    const auto free_piece = [&](uint64_t to) {
      if (to <= at) return;
      if (hole_pool == nullptr || hole_end != at) {
        close_hole();
        hole_begin = at;
      }
      hole_pool = &key;
      hole_end = to;
    };
    for (auto block = first; block != map.blocks.end() && block->address < end; ++block) {
      const uint64_t from = std::max(block->address, segment.begin), to = std::min(block->address + block->bytes, end);
      if (to <= at) continue;
      free_piece(from);
      close_hole();
      live += to - std::max(from, at);
      at = to;
      counts[key] += block->address >= segment.begin;
      if (last_to_go == nullptr || StaysLonger(*block, *last_to_go)) last_to_go = &*block;
    }
    free_piece(end);
    if (!segment.mapped) close_hole();
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
  close_hole();
  for (auto& [pool_key, pool] : pools) {
    const uint64_t average = counts[pool_key] > 0 ? pool.live / counts[pool_key] : 0;
    for (const uint64_t hole : holes[pool_key]) {
      pool.largest_free = std::max(pool.largest_free, hole);
      if (hole >= average) pool.free_for_own_size += hole;
    }
    use.pools.push_back(pool);
  }
  for (const auto& [site, pin] : pins) use.pins.push_back(pin);
  std::stable_sort(use.pins.begin(), use.pins.end(), [](const Pin& a, const Pin& b) { return a.bytes > b.bytes; });
  return use;
}

}  // namespace vramtrack::torch_allocator
