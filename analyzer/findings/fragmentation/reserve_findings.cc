// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/reserve_findings.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {
namespace {

using torch_allocator::SegmentLayout;
using torch_allocator::SegmentMap;

// Sizes of segments that are told; what is left is of many sizes.
constexpr size_t kMostSizes = 8;

std::string Bytes(double bytes) { return FormatByteCount(bytes); }

// Segments that serve the same requests and are of one size.
using SegmentClass = std::tuple<uint32_t, bool, uint64_t>;  // pool, small, bytes
SegmentClass ClassOf(const SegmentLayout::Segment& segment) { return {segment.arena, segment.small, segment.bytes}; }

// The segments of `after` that were not there before, of classes that have become more, with their blocks.
SegmentMap NewSegments(const SegmentMap& before, const SegmentMap& after, const std::map<SegmentClass, int64_t>& more) {
  SegmentMap grown;
  grown.step = after.step;
  grown.blocks = after.blocks;
  auto old = before.segments.begin();
  for (const SegmentLayout::Segment& segment : after.segments) {
    while (old != before.segments.end() && old->begin < segment.begin) ++old;
    const bool was_there = old != before.segments.end() && old->begin == segment.begin && old->bytes == segment.bytes;
    if (!was_there && more.at(ClassOf(segment)) > 0) grown.segments.push_back(segment);
  }
  return grown;
}

// Stacks that asked for segments since then which are still there.
uint64_t StacksOfSegments(const ProcessAnalysis& analysis, DeviceIndex device, Step first) {
  const Ledger& ledger = analysis.ledger();
  uint64_t stacks = 0;
  for (const SiteIndex i : ledger.sites().indices()) {
    const Site& site = ledger.sites()[i];
    if (site.key.device != device || !IsSegmentSite(site)) continue;
    for (const Cohort& cohort : analysis.histories().history(i).cohorts) {
      if (cohort.step < first || cohort.live_objects == 0) continue;
      ++stacks;
      break;
    }
  }
  return stacks;
}

std::string ExplainReserve(const ReportReserveGrowth& growth) {
  std::string text =
      absl::StrCat("the framework's allocator takes ", Bytes(growth.bytes_per_step),
                   " more from the device per step than it ever had need of (95 % CI ", Bytes(growth.ci_low), " to ",
                   Bytes(growth.ci_high), "), in ", Plural(growth.stairs, "plateau", "plateaus"));
  if (growth.first_step) absl::StrAppend(&text, " since step ", *growth.first_step);
  absl::StrAppend(&text, ", while what it hands out does not grow");
  if (growth.segments == 0) return text;
  absl::StrAppend(&text, ": ", Plural(growth.segments, "segment", "segments"), " more, ",
                  Bytes(static_cast<double>(growth.bytes)));
  if (!growth.sizes.empty() && 2 * growth.sizes[0].bytes >= growth.bytes) {
    absl::StrAppend(&text, ", most of ", Bytes(static_cast<double>(growth.sizes[0].segment_bytes)));
  }
  if (growth.stacks > 1) absl::StrAppend(&text, ", asked for from ", growth.stacks, " places");
  if (growth.free_releasable == 0) return text;
  absl::StrAppend(&text, "; ", Bytes(static_cast<double>(growth.free_releasable)), " of the new ones hold nothing");
  // Where they were of one pool, they would have been used again.
  if (growth.pools > 1) {
    absl::StrAppend(&text, ", in ", growth.pools, " pools at least that do not share (of streams, of captured graphs)");
  }
  return text;
}

}  // namespace

std::map<DeviceIndex, ReserveGrowth> GrowthOfReserves(const ProcessAnalysis& analysis) {
  std::map<DeviceIndex, ReserveGrowth> grown;
  const Ledger& ledger = analysis.ledger();
  if (!analysis.timeline().in_steps()) return grown;
  for (const Scope& scope : ledger.scopes()) {
    if (scope.level != Level::kFramework) continue;
    const auto growth = JudgeReserve(LevelsOf(analysis, scope, DeviceFigure::kReserved),
                                     LevelsOf(analysis, scope, DeviceFigure::kLive), analysis.run().warmup_end);
    if (growth) grown.emplace(scope.device, *growth);
  }
  return grown;
}

std::vector<ReportPin> DescribePins(ProcessAnalysis* analysis, const std::vector<torch_allocator::Pin>& pins) {
  std::vector<ReportPin> described;
  // Sites that the same line stands for are one to the reader.
  std::map<std::string, size_t> by_line;
  for (const torch_allocator::Pin& pin : pins) {
    ReportPin one;
    one.site = ListedSite(analysis->GroupOf(pin.site));
    one.segments = pin.segments;
    one.bytes = pin.bytes;
    one.stack = analysis->shown().Frames(analysis->ledger().sites()[pin.site].key.stack);
    std::string line;
    if (!one.stack.empty()) {
      const ReportFrame& frame = one.stack[NamingFrame(one.stack, 0)];
      line = absl::StrCat(frame.file, ":", frame.line, " ", frame.module, "+", frame.offset, " ", frame.function);
    }
    const auto [same, is_new] = by_line.try_emplace(line, described.size());
    if (is_new) {
      described.push_back(std::move(one));
    } else {
      described[same->second].segments += pin.segments;
      described[same->second].bytes += pin.bytes;
    }
  }
  std::stable_sort(described.begin(), described.end(),
                   [](const ReportPin& a, const ReportPin& b) { return a.bytes > b.bytes; });
  return described;
}

ReportReserveGrowth DescribeReserveGrowth(ProcessAnalysis* analysis, DeviceIndex device, const ReserveGrowth& growth,
                                          const torch_allocator::PeakSegments::Result& maps) {
  ReportReserveGrowth described;
  described.bytes_per_step = growth.unused.bytes_per_step;
  described.ci_low = growth.unused.ci_low;
  described.ci_high = growth.unused.ci_high;
  described.first_step = ReportedStep(analysis->run(), growth.first);
  described.stairs = growth.stairs;
  described.stacks = StacksOfSegments(*analysis, device, growth.first);

  std::map<SegmentClass, int64_t> more;
  for (const SegmentLayout::Segment& segment : maps.growth_end.segments) ++more[ClassOf(segment)];
  for (const SegmentLayout::Segment& segment : maps.growth_begin.segments) --more[ClassOf(segment)];
  std::set<std::pair<uint32_t, bool>> pools;
  std::map<std::pair<bool, uint64_t>, ReportGrownSegments> sizes;
  for (const auto& [key, count] : more) {
    if (count <= 0) continue;
    const auto& [arena, small, bytes] = key;
    const auto segments = static_cast<uint64_t>(count);
    described.segments += segments;
    described.bytes += segments * bytes;
    pools.insert({arena, small});
    ReportGrownSegments& size = sizes[{small, bytes}];
    size.sizes = small ? BlockSizeClass::kSmall : BlockSizeClass::kLarge;
    size.segment_bytes = bytes;
    size.segments += segments;
    size.bytes += segments * bytes;
    ++size.pools;
  }
  described.pools = pools.size();
  for (auto& [key, size] : sizes) described.sizes.push_back(std::move(size));
  std::stable_sort(described.sizes.begin(), described.sizes.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (described.sizes.size() > kMostSizes) described.sizes.resize(kMostSizes);

  const torch_allocator::SegmentUse use = UseOf(NewSegments(maps.growth_begin, maps.growth_end, more));
  described.free_releasable = use.free_releasable;
  described.free_pinned = use.free_pinned;
  described.pins = DescribePins(analysis, use.pins);
  described.explanation = ExplainReserve(described);
  return described;
}

}  // namespace vramtrack
