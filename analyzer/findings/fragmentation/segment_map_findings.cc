// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/segment_map_findings.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {
namespace {

using torch_allocator::SegmentLayout;
using torch_allocator::SegmentMap;

struct Extent {
  ReportSegmentMap::Segment segment;
  size_t first_block = 0;
};

// Segments with the blocks that begin in them.
std::vector<Extent> ExtentsOf(const SegmentMap& map) {
  std::vector<Extent> extents;
  const SegmentLayout::Segment* last = nullptr;
  for (const SegmentLayout::Segment& segment : map.segments) {
    const bool goes_on = last != nullptr && last->mapped && segment.mapped && last->arena == segment.arena &&
                         last->small == segment.small && last->begin + last->bytes == segment.begin;
    last = &segment;
    if (goes_on) {
      extents.back().segment.bytes += segment.bytes;
      continue;
    }
    Extent extent;
    extent.segment.address = segment.begin;
    extent.segment.bytes = segment.bytes;
    extent.segment.pool = segment.arena;
    extent.segment.sizes = segment.small ? BlockSizeClass::kSmall : BlockSizeClass::kLarge;
    extents.push_back(std::move(extent));
  }
  size_t block = 0;
  for (Extent& extent : extents) {
    const uint64_t begin = extent.segment.address, end = begin + extent.segment.bytes;
    while (block < map.blocks.size() && map.blocks[block].address < begin) ++block;
    extent.first_block = block;
    const SegmentMap::LiveBlock* last_to_go = nullptr;
    for (; block < map.blocks.size() && map.blocks[block].address < end; ++block) {
      const SegmentMap::LiveBlock& one = map.blocks[block];
      if (last_to_go == nullptr ||
          std::make_pair(one.death, one.birth) > std::make_pair(last_to_go->death, last_to_go->birth)) {
        last_to_go = &one;
        extent.segment.pinned_by = extent.segment.blocks;
      }
      extent.segment.live += std::min(one.bytes, end - one.address);
      ++extent.segment.blocks;
    }
  }
  return extents;
}

// Which fit, the largest first.
std::vector<bool> Shown(const std::vector<Extent>& extents) {
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return extents[a].segment.bytes > extents[b].segment.bytes; });
  std::vector<bool> shown(extents.size());
  size_t entries = 0;
  for (const size_t i : order) {
    entries += 1 + extents[i].segment.blocks;
    if (entries > kMaxMapBlocks) break;
    shown[i] = true;
  }
  return shown;
}

}  // namespace

ReportSegmentMap DescribeSegmentMap(ProcessAnalysis* analysis, const SegmentMap& map) {
  ReportSegmentMap described;
  described.step = ReportedStep(analysis->run(), map.step);
  std::vector<Extent> extents = ExtentsOf(map);
  const std::vector<bool> shown = Shown(extents);
  for (size_t i = 0; i < extents.size(); ++i) {
    ReportSegmentMap::Segment& segment = extents[i].segment;
    if (!shown[i]) {
      ++described.other_segments;
      described.other_bytes += segment.bytes;
      continue;
    }
    for (size_t b = extents[i].first_block; b < extents[i].first_block + segment.blocks; ++b) {
      const SegmentMap::LiveBlock& live = map.blocks[b];
      ReportSegmentMap::Block block;
      block.offset = live.address - segment.address;
      block.bytes = live.bytes;
      const size_t group = analysis->GroupOf(live.site);
      if (group != ProcessAnalysis::kNoGroup) block.site = absl::StrCat(group);
      block.category = analysis->Category(live.site);
      described.blocks.push_back(std::move(block));
    }
    described.segments.push_back(std::move(segment));
  }
  return described;
}

}  // namespace vramtrack
