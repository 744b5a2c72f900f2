// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/segment_findings.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/ordered_work.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/fragmentation/reserve_findings.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/model/report.h"

namespace vramtrack {
namespace {

using torch_allocator::Knob;
using torch_allocator::RequestLog;
using torch_allocator::SegmentLayout;
using torch_allocator::SegmentMap;
using torch_allocator::WhatIf;
using Tried = SegmentFindings::Tried;

// Limit of the blocks of a map. If there are more, the smallest segments are left out.
constexpr size_t kMaxMapBlocks = 20000;

struct Extent {
  ReportSegmentMap::Segment segment;
  size_t first_block = 0;
};

// Segments with the blocks that begin in them.
std::vector<Extent> ExtentsOf(const SegmentMap& map) {
  std::vector<Extent> extents;
  const SegmentLayout::Segment* last = nullptr;
  for (const SegmentLayout::Segment& segment : map.segments) {
    const bool goes_on = last != nullptr && torch_allocator::Continues(*last, segment);
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
      if (last_to_go == nullptr || one.StaysLongerThan(*last_to_go)) {
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

// Describes a segment map. Its sites are indices of analysis->groups(). Adjacent mappings count as one segment.
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
      block.site = ListedSite(analysis->GroupOf(live.site));
      block.category = analysis->Category(live.site);
      described.blocks.push_back(std::move(block));
    }
    described.segments.push_back(std::move(segment));
  }
  return described;
}

// The model has to be this near to the trace before its advice counts: a hundredth.
constexpr uint64_t kMaxModelError = 100;

std::string Bytes(uint64_t bytes) { return FormatByteCount(static_cast<double>(bytes)); }

// What to put into the environment, or into the program.
std::string SettingLine(const Knob& knob) {
  if (knob.family == Knob::Family::kPreallocate)
    return "a forward and backward pass with the largest batch at the start";
  if (knob.family != Knob::Family::kEmptyCache) return absl::StrCat("PYTORCH_CUDA_ALLOC_CONF=", knob.setting);
  if (knob.empty_cache_every == 1) return "torch.cuda.empty_cache() after each step";
  return absl::StrCat("torch.cuda.empty_cache() after every ", knob.empty_cache_every, " steps");
}

const char* Reason(Knob::Family family) {
  switch (family) {
    case Knob::Family::kExpandable:
      return "segments that grow leave no remainders between them";
    case Knob::Family::kRoundup:
      return "sizes that differ little become the same";
    case Knob::Family::kEmptyCache:
      return "segments of sizes that are not requested any more are released, at the price of waiting for the device "
             "each time";
    case Knob::Family::kPreallocate:
      return "the segments that the largest batch needs are there before smaller ones are taken";
    default:
      return "";
  }
}

// Whether the model did as the allocator did.
bool IsNear(const WhatIf& followed) {
  const uint64_t before = followed.reserved_peak, model = followed.model_reserved_peak;
  return (model > before ? model - before : before - model) <= before / kMaxModelError;
}

// The best of each family, the largest saving first. `followed`: as the trace was, for the same time.
std::vector<ReportAdvice> Advice(const WhatIf& followed) {
  if (!IsNear(followed)) return {};
  const uint64_t before = followed.reserved_peak;
  std::map<Knob::Family, ReportAdvice> best;
  for (const WhatIf::Trial& trial : followed.trials) {
    if (trial.stopped || trial.failures > 0 || trial.reserved_peak >= before) continue;
    const uint64_t saved = before - trial.reserved_peak;
    if (!IsWorthAdvice(saved, before)) continue;
    ReportAdvice& advice = best[trial.knob.family];
    if (saved < advice.saved_bytes) continue;
    advice = {absl::StrCat("would have reserved ", Bytes(trial.reserved_peak), " instead of ", Bytes(before), ": ",
                           Reason(trial.knob.family)),
              SettingLine(trial.knob), before, trial.reserved_peak, saved};
    if (followed.blocks >= RequestLog::kMaxBlocks) {
      absl::StrAppend(&advice.text, " (tried on the first ", RequestLog::kMaxBlocks, " blocks)");
    }
  }
  std::vector<ReportAdvice> advice;
  for (auto& [family, one] : best) advice.push_back(std::move(one));
  std::stable_sort(advice.begin(), advice.end(),
                   [](const auto& a, const auto& b) { return a.saved_bytes > b.saved_bytes; });
  return advice;
}

void DescribeUse(ProcessAnalysis* analysis, const torch_allocator::PeakSegments::Result& maps,
                 ReportFragmentation* fragmentation) {
  const torch_allocator::SegmentUse use = UseOf(maps.reserved_peak);
  ReportSegmentUse& at_peak = fragmentation->at_reserved_peak.emplace();
  at_peak.step = ReportedStep(analysis->run(), maps.reserved_peak.step);
  at_peak.reserved = use.reserved;
  at_peak.live = use.live;
  at_peak.free_releasable = use.free_releasable;
  at_peak.free_pinned = use.free_pinned;
  fragmentation->map = DescribeSegmentMap(analysis, maps.reserved_peak);
  fragmentation->pins = DescribePins(analysis, use.pins);
  for (const torch_allocator::PoolUse& pool : use.pools) {
    ReportSegmentPool described;
    described.pool = pool.arena;
    described.sizes = pool.small ? BlockSizeClass::kSmall : BlockSizeClass::kLarge;
    described.segments = pool.segments;
    described.reserved = pool.reserved;
    described.live = pool.live;
    described.free_releasable = pool.releasable;
    described.largest_free = pool.largest_free;
    fragmentation->pools.push_back(std::move(described));
  }
}

// Whether the device's allocator gave up, or reserved much more than it needed.
bool HasFailed(const std::vector<OutOfMemory>& failures, const Scope& scope) {
  return std::any_of(failures.begin(), failures.end(), [&scope](const OutOfMemory& f) {
    return f.device == scope.device && f.framework && f.framework->failed;
  });
}

// What other settings would have done.
WhatIf TrySettings(const ProcessAnalysis& analysis, const torch_allocator::PeakSegments::Result& segments) {
  const RequestLog& log = *segments.requests;
  torch_allocator::Settings as_it_was;
  as_it_was.expandable_segments = segments.expandable;
  WhatIf outcome = FollowAsItWas(log, segments.arenas, as_it_was);
  const bool near = IsNear(outcome);
  if (!near && log.failures().empty()) return outcome;
  const bool has_steps = analysis.plan().has_steps() && !analysis.plan().has_windows();
  torch_allocator::TrialLimits limits;
  limits.threads = ProcessorsToUse(analysis.options().threads);
  limits.may_win = [near, before = outcome.reserved_peak](uint64_t reserved) {
    return near && reserved < before && IsWorthAdvice(before - reserved, before);
  };
  outcome.trials = TryKnobs(
      log, segments.arenas,
      torch_allocator::KnobsToTry(as_it_was, has_steps, /*has_pass=*/log.pass_begin() < log.pass_end()), limits);
  return outcome;
}

void DescribeFits(const Tried& tried, const OutOfMemory& failed, ReportOom* oom) {
  if (DeviceHadRoom(*oom)) return;
  for (size_t i = 0; i < tried.failures.size(); ++i) {
    if (tried.failures[i].ticks != failed.ticks || tried.failures[i].requested != failed.requested) continue;
    for (const WhatIf::Trial& trial : tried.outcome.trials) {
      if (i < trial.fits.size() && trial.fits[i]) oom->would_fit.push_back({SettingLine(trial.knob), *trial.fits[i]});
    }
    return;
  }
}

// By device, the step from which on the reserve grows.
std::map<DeviceIndex, uint32_t> FirstSteps(const std::map<DeviceIndex, ReserveGrowth>& growing) {
  std::map<DeviceIndex, uint32_t> first;
  for (const auto& [device, growth] : growing) first[device] = growth.first;
  return first;
}

// What is known of how blocks are placed, and of settings, is known of PyTorch's allocator.
std::set<DeviceIndex> DevicesOfOthers(const ProcessAnalysis& analysis) {
  std::set<DeviceIndex> devices;
  for (const TracedAllocator& allocator : analysis.trace().definitions().allocators) {
    devices.insert(DeviceIndex(allocator.device));
  }
  return devices;
}

}  // namespace

SegmentFindings::SegmentFindings(ProcessAnalysis* analysis)
    : analysis_(*analysis),
      growing_(GrowthOfReserves(*analysis)),
      segments_(analysis->ledger(), FirstSteps(growing_), DevicesOfOthers(*analysis)) {
  for (const Scope& scope : analysis->ledger().scopes()) {
    if (scope.level != Level::kFramework) continue;
    const bool failed = HasFailed(analysis->failures().all(), scope);
    const uint64_t unused = scope.reserved_peak > scope.peak ? scope.reserved_peak - scope.peak : 0;
    if (!failed && !IsWorthAdvice(unused, scope.reserved_peak)) continue;
    segments_.Record(scope.device, analysis->ledger().DeviceBytes(scope.device), failed);
  }
}

void SegmentFindings::Prepare(Replay* detail) {
  if (!segments_.has_devices()) return;
  detail->observers.push_back(&segments_);
}

void SegmentFindings::TryAllSettings() {
  found_ = segments_.Finish();
  for (auto& [device, found] : found_) {
    if (!found.requests) continue;
    tried_[device] = {TrySettings(analysis_, found), found.requests->failures()};
    found.requests.reset();
  }
}

void SegmentFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  if (segments_.has_devices()) TryAllSettings();
  for (const Scope& scope : analysis_.ledger().scopes()) {
    const auto found = found_.find(scope.device);
    if (scope.level != Level::kFramework || found == found_.end()) continue;
    const auto device = std::find_if(findings->devices.begin(), findings->devices.end(),
                                     [&scope](const ReportDevice& d) { return DeviceIndex(d.index) == scope.device; });
    if (device == findings->devices.end()) continue;
    DescribeUse(&analysis_, found->second, &device->fragmentation);
    if (const auto growth = growing_.find(scope.device); growth != growing_.end()) {
      device->fragmentation.growth = DescribeReserveGrowth(&analysis_, scope.device, growth->second, found->second);
    }
    const auto tried = tried_.find(scope.device);
    if (tried == tried_.end()) continue;
    device->fragmentation.advice = Advice(tried->second.outcome);
    for (size_t i = 0; i < findings->oom.size() && i < analysis_.failures().all().size(); ++i) {
      const OutOfMemory& failed = analysis_.failures().all()[i];
      if (failed.device == scope.device) DescribeFits(tried->second, failed, &findings->oom[i]);
    }
  }
}

}  // namespace vramtrack
