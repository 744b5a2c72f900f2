// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/segment_findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/byte_count.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/fragmentation/reserve_findings.h"
#include "analyzer/findings/fragmentation/segment_map_findings.h"

namespace vramtrack {
namespace {

using torch_allocator::Knob;
using torch_allocator::WhatIf;

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
    case Knob::Family::kMaxSplit:
      return "large blocks that are not cut up are given out again whole";
    case Knob::Family::kGarbageCollection:
      return "segments that have not been used for long are given back";
    case Knob::Family::kRoundup:
      return "sizes that differ little become the same";
    case Knob::Family::kEmptyCache:
      return "segments of sizes that are not asked for any more are given back, at the price of waiting for the device "
             "each time";
    case Knob::Family::kPreallocate:
      return "the segments that the largest batch needs are there before smaller ones are taken";
    default:
      return "";
  }
}

// The best of each family, the largest saving first. `followed`: as the trace was, for the same time.
std::vector<ReportAdvice> Advice(const WhatIf::Outcome& followed) {
  const uint64_t before = followed.reserved_peak;
  const uint64_t model = followed.model_reserved_peak;
  if ((model > before ? model - before : before - model) > before / kMaxModelError) return {};
  std::map<Knob::Family, ReportAdvice> best;
  for (const WhatIf::Trial& trial : followed.trials) {
    if (trial.failures > 0 || trial.reserved_peak >= before) continue;
    const uint64_t saved = before - trial.reserved_peak;
    if (!IsWorthAdvice(saved, before)) continue;
    ReportAdvice& advice = best[trial.knob.family];
    if (saved < advice.saved_bytes) continue;
    advice = {absl::StrCat("would have reserved ", Bytes(trial.reserved_peak), " instead of ", Bytes(before), ": ",
                           Reason(trial.knob.family)),
              SettingLine(trial.knob), before, trial.reserved_peak, saved};
    if (followed.blocks >= WhatIf::kMaxBlocks) {
      absl::StrAppend(&advice.text, " (tried on the first ", WhatIf::kMaxBlocks, " blocks)");
    }
  }
  std::vector<ReportAdvice> advice;
  for (auto& [family, one] : best) advice.push_back(std::move(one));
  std::stable_sort(advice.begin(), advice.end(),
                   [](const auto& a, const auto& b) { return a.saved_bytes > b.saved_bytes; });
  return advice;
}

void DescribeUse(ProcessAnalysis* analysis, const torch_allocator::PeakSegments::Maps& maps,
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
    described.sizes = pool.small ? "small" : "large";
    described.segments = pool.segments;
    described.reserved = pool.reserved;
    described.live = pool.live;
    described.free_releasable = pool.releasable;
    described.largest_free = pool.largest_free;
    const uint64_t free = pool.reserved - pool.live;
    if (free > 0) {
      described.external = 1 - static_cast<double>(pool.largest_free) / static_cast<double>(free);
      described.unusable = 1 - static_cast<double>(pool.free_for_own_size) / static_cast<double>(free);
    }
    fragmentation->pools.push_back(std::move(described));
  }
  fragmentation->model_blocks = maps.placements;
  fragmentation->model_surprises = maps.surprises;
}

// By device, the step from which on the reserve grows.
std::map<uint32_t, uint32_t> FirstSteps(const std::map<uint32_t, ReserveGrowth>& growing) {
  std::map<uint32_t, uint32_t> first;
  for (const auto& [device, growth] : growing) first[device] = growth.first;
  return first;
}

}  // namespace

SegmentFindings::SegmentFindings(ProcessAnalysis* analysis)
    : analysis_(*analysis),
      growing_(GrowthOfReserves(*analysis)),
      segments_(analysis->ledger(), FirstSteps(growing_)) {}

SegmentFindings::~SegmentFindings() = default;

void SegmentFindings::Prepare(LedgerOptions* options) {
  if (segments_.has_devices()) options->observers.push_back(&segments_);
}

bool SegmentFindings::IsWorthTrials(const Scope& scope) const {
  const std::vector<OutOfMemory>& failures = analysis_.ledger().out_of_memory();
  const bool gave_up = std::any_of(failures.begin(), failures.end(), [&scope](const OutOfMemory& f) {
    return f.device == scope.device && f.framework && f.framework->failed;
  });
  const uint64_t unused = scope.reserved_peak > scope.peak ? scope.reserved_peak - scope.peak : 0;
  return gave_up || IsWorthAdvice(unused, scope.reserved_peak);
}

bool SegmentFindings::PrepareTrials(const Ledger& /*detail*/, LedgerOptions* options) {
  if (!segments_.has_devices()) return false;
  const Ledger& ledger = analysis_.ledger();
  arenas_ = segments_.Learnt();
  maps_ = segments_.Finish();
  std::map<uint32_t, std::vector<Knob>> knobs;
  std::map<uint32_t, uint64_t> totals;
  std::map<uint32_t, torch_allocator::LargestPass> passes;
  for (const Scope& scope : ledger.scopes()) {
    const auto map = maps_.find(scope.device);
    if (scope.level != Level::kFramework || map == maps_.end() || !IsWorthTrials(scope)) continue;
    totals[scope.device] = DeviceTotalBytes(analysis_.trace(), ledger, scope.device);
    std::vector<Knob>& tried = knobs[scope.device] = torch_allocator::KnobsToTry(
        map->second.expandable, scope.reserved_peak, scope.peak, totals[scope.device],
        analysis_.plan().has_steps() && !analysis_.plan().has_windows(), !map->second.largest_pass.events().empty());
    passes[scope.device] = map->second.largest_pass;
    const auto learnt = arenas_.find(scope.device);
    for (Knob& knob : tried) knob.settings.oldest_first = learnt != arenas_.end() && learnt->second.oldest_first;
  }
  if (knobs.empty()) return false;
  what_if_ = std::make_unique<WhatIf>(&arenas_, std::move(knobs), std::move(totals), std::move(passes));
  options->observers.push_back(what_if_.get());
  return true;
}

void SegmentFindings::Describe(const Replays& /*replays*/, ProcessFindings* findings) {
  for (ReportDevice& device : findings->devices) {
    const auto map = maps_.find(device.index);
    if (map == maps_.end()) continue;
    DescribeUse(&analysis_, map->second, &device.fragmentation);
    if (const auto growth = growing_.find(device.index); growth != growing_.end()) {
      device.fragmentation.growth = DescribeReserveGrowth(&analysis_, device.index, growth->second, map->second);
    }
  }
  if (what_if_ == nullptr) return;
  const std::map<uint32_t, WhatIf::Outcome> outcomes = what_if_->Finish();
  for (ReportDevice& device : findings->devices) {
    const auto outcome = outcomes.find(device.index);
    if (outcome != outcomes.end()) device.fragmentation.advice = Advice(outcome->second);
  }
  const std::vector<OutOfMemory>& failures = analysis_.ledger().out_of_memory();
  for (size_t i = 0; i < findings->oom.size() && i < failures.size(); ++i) {
    const auto outcome = outcomes.find(failures[i].device);
    if (outcome == outcomes.end()) continue;
    for (const WhatIf::Failure& failure : outcome->second.failures) {
      if (failure.ticks != failures[i].ticks || failure.requested != failures[i].requested) continue;
      for (const auto& fit : failure.would_fit) {
        findings->oom[i].would_fit.push_back({SettingLine(*torch_allocator::ParseKnob(fit.setting)), fit.free_bytes});
      }
      break;
    }
  }
}

}  // namespace vramtrack
