// SPDX-License-Identifier: Apache-2.0
//
// Describes how a framework's allocator uses the driver's memory: how full its segments were at the peak, which sites
// pin them, and which changes would have helped, each tried on a model of the allocator. docs/fragmentation.md
// explains it.
#include "analyzer/findings/fragmentation/fragmentation_collectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/indices.h"
#include "analyzer/base/ordered_work.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/leaks/reserve_growth.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/model/report.h"
#include "analyzer/torch_allocator/peak_segments.h"
#include "analyzer/torch_allocator/what_if.h"

namespace vramtrack {
namespace {

std::string Bytes(double bytes) { return FormatByteCount(bytes); }
std::string Bytes(uint64_t bytes) { return Bytes(static_cast<double>(bytes)); }

using torch_allocator::SegmentLayout;
using torch_allocator::SegmentMap;

// Sizes of segments that are listed; what is left is of many sizes.
constexpr size_t kMostSizes = 8;

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

// Returns the growth by device, only for devices with a framework's level on which reserved bytes grow and live bytes
// do not. Empty without steps.
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

// Returns the pins by the line that represents them, most bytes first.
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
    const auto [same, is_new] = by_line.try_emplace(StackPlace(one.stack), described.size());
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

// Describes the growth of a device. `maps`: its segment maps, from a replay that was given the growth.
ReportReserveGrowth DescribeReserveGrowth(ProcessAnalysis* analysis, DeviceIndex device, const ReserveGrowth& growth,
                                          const torch_allocator::PeakSegments::Result& maps) {
  ReportReserveGrowth described;
  described.bytes_per_step = growth.unused.bytes_per_step;
  described.ci_low = growth.unused.ci_low;
  described.ci_high = growth.unused.ci_high;
  described.first_step = ReportedStep(analysis->run(), growth.first);
  described.stairs = growth.rises;
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

using torch_allocator::Knob;
using torch_allocator::RequestLog;
using torch_allocator::WhatIf;

// The model has to be this near to the trace before its advice counts: a hundredth.
constexpr uint64_t kMaxModelError = 100;

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

// Whether the device's allocator gave up.
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
  const torch_allocator::MayWin may_win = [near, before = outcome.reserved_peak](uint64_t reserved) {
    return near && reserved < before && IsWorthAdvice(before - reserved, before);
  };
  outcome.trials =
      TryKnobs(log, segments.arenas,
               torch_allocator::KnobsToTry(as_it_was, has_steps, /*has_pass=*/log.pass_begin() < log.pass_end()),
               may_win, ProcessorsToUse(analysis.options().threads));
  return outcome;
}

// The settings with which a failed request would have succeeded. `log`: what `tried` followed.
void DescribeFits(const RequestLog& log, const WhatIf& tried, const OutOfMemory& failed, ReportOom* oom) {
  if (DeviceHadRoom(*oom)) return;
  for (size_t i = 0; i < log.failures().size(); ++i) {
    const RequestLog::Failure& request = log.failures()[i];
    if (request.ticks != failed.ticks || request.requested != failed.requested) continue;
    for (const WhatIf::Trial& trial : tried.trials) {
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

class SegmentFindings final : public Collector {
 public:
  explicit SegmentFindings(ProcessAnalysis* analysis)
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

  const char* name() const override { return "segments"; }

  void Prepare(Replay* detail) override {
    if (!segments_.has_devices()) return;
    detail->observers.push_back(&segments_);
  }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    const std::vector<OutOfMemory>& failures = analysis_.failures().all();
    for (const auto& [index, found] : segments_.Finish()) {
      const auto device = std::find_if(findings->devices.begin(), findings->devices.end(),
                                       [of = index](const ReportDevice& d) { return DeviceIndex(d.index) == of; });
      if (device == findings->devices.end()) continue;
      DescribeUse(&analysis_, found, &device->fragmentation);
      if (const auto growth = growing_.find(index); growth != growing_.end()) {
        device->fragmentation.growth = DescribeReserveGrowth(&analysis_, index, growth->second, found);
      }
      if (!found.requests) continue;
      const WhatIf tried = TrySettings(analysis_, found);
      device->fragmentation.advice = Advice(tried);
      for (size_t i = 0; i < findings->oom.size() && i < failures.size(); ++i) {
        if (failures[i].device == index) DescribeFits(*found.requests, tried, failures[i], &findings->oom[i]);
      }
    }
  }

 private:
  ProcessAnalysis& analysis_;
  const std::map<DeviceIndex, ReserveGrowth> growing_;  // by device
  torch_allocator::PeakSegments segments_;
};

}  // namespace

std::unique_ptr<Collector> MakeSegmentFindings(ProcessAnalysis* analysis) {
  return std::make_unique<SegmentFindings>(analysis);
}

}  // namespace vramtrack
