// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/what_if.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <set>
#include <utility>

#include "analyzer/base/ordered_work.h"
#include "analyzer/fragmentation/torch_allocator/allocator_model.h"

namespace vramtrack::torch_allocator {
namespace {

using Event = RequestLog::Event;
using What = RequestLog::What;

Settings WithOrder(Settings settings, bool oldest_first) {
  settings.oldest_first = oldest_first;
  return settings;
}

// A model that follows a log.
class Follower {
 public:
  Follower(const RequestLog& log, const Arenas& arenas, const Settings& settings)
      : log_(log), arenas_(arenas), model_(WithOrder(settings, arenas.oldest_first)) {}

  AllocatorModel& model() { return model_; }
  uint32_t ArenaOf(uint32_t segment) const { return arenas_.count > 1 ? arenas_.Of(segment) : 0; }

  void Apply(const Event& event) {
    switch (event.what) {
      case What::kAllocate:
        if (event.block >= blocks_.size()) blocks_.resize(event.block + 1, AllocatorModel::kNone);
        blocks_[event.block] =
            model_.Allocate(ArenaOf(event.segment), event.value, std::exchange(new_segment_, SegmentHint()));
        break;
      case What::kFree:
        model_.Free(std::exchange(blocks_[event.block], AllocatorModel::kNone));
        break;
      case What::kNewSegment:
        new_segment_ = log_.new_segments()[event.value];
        break;
      case What::kEmptyCache:
      case What::kReleaseForRequest:
        Release(event.value);
        break;
      default:
        break;
    }
  }

  // Makes the requests of the largest step. All blocks that it allocates are freed again at its end.
  void MakePass() {
    std::map<uint32_t, AllocatorModel::Block> held;
    for (size_t i = log_.pass_begin(); i < log_.pass_end(); ++i) {
      const Event& event = log_.events()[i];
      if (event.what == What::kAllocate) {
        held[event.block] = model_.Allocate(ArenaOf(event.segment), event.value);
      } else if (const auto block = held.find(event.block); event.what == What::kFree && block != held.end()) {
        model_.Free(block->second);
        held.erase(block);
      }
    }
    for (const auto& [number, block] : held) model_.Free(block);
  }

 private:
  void Release(uint64_t number) {
    std::set<uint32_t> kept;
    const auto next = arenas_.kept_at_release.upper_bound(number);
    if (next != arenas_.kept_at_release.begin()) kept = std::prev(next)->second;
    for (uint32_t arena = 0; arena < arenas_.count; ++arena) model_.SetPrivate(arena, kept.count(arena) != 0);
    model_.EmptyCache();
  }

  const RequestLog& log_;
  const Arenas& arenas_;
  AllocatorModel model_;
  std::vector<AllocatorModel::Block> blocks_;  // by the log's number
  SegmentHint new_segment_;
};

// What the trials of a family have reserved at least, of those that were followed to their ends without a failure.
using BestOfFamily = std::array<std::atomic<uint64_t>, Knob::kFamilies>;

class TrialRun {
 public:
  TrialRun(const RequestLog& log, const Arenas& arenas, const Knob& knob, const TrialLimits& limits, BestOfFamily* best)
      : log_(log),
        limits_(limits),
        best_((*best)[static_cast<size_t>(knob.family)]),
        follower_(log, arenas, knob.settings),
        model_(follower_.model()) {
    trial_.knob = knob;
  }

  WhatIf::Trial Make() {
    for (const Event& event : log_.events()) {
      Apply(event);
      trial_.stopped = limits_.may_win != nullptr && CannotWin();
      if (trial_.stopped) break;
    }
    trial_.reserved_peak = model_.peak_reserved();
    trial_.failures = model_.failures();
    if (trial_.stopped || model_.failures() > 0) return std::move(trial_);
    uint64_t best = best_;
    while (model_.peak_reserved() < best && !best_.compare_exchange_weak(best, model_.peak_reserved())) {
    }
    return std::move(trial_);
  }

 private:
  bool CannotWin() {
    if (model_.failures() > 0) return true;
    if (model_.peak_reserved() == judged_peak_ && trial_.fits.size() == judged_fits_) return false;
    judged_peak_ = model_.peak_reserved();
    judged_fits_ = trial_.fits.size();
    if (judged_fits_ < log_.failures().size()) return false;
    return judged_peak_ > best_ || !limits_.may_win(judged_peak_);
  }

  void Apply(const Event& event) {
    switch (event.what) {
      case What::kLimit:
        return model_.SetLimit(event.value);
      case What::kReleaseForRequest:
        return;  // with a limit the model does so by itself
      case What::kStepEnd:
        return EndStep(event.value);
      case What::kOutOfMemory:
        return AskAgain(log_.failures()[event.value]);
      default:
        return follower_.Apply(event);
    }
  }

  void EndStep(uint64_t step) {
    const Knob& knob = trial_.knob;
    // Set-up is part of the first step, so the pass comes behind it.
    if (step == 0 && knob.family == Knob::Family::kPreallocate) follower_.MakePass();
    if (knob.empty_cache_every > 0 && (step + 1) % knob.empty_cache_every == 0) model_.EmptyCache();
  }

  void AskAgain(const RequestLog::Failure& failure) {
    trial_.fits.emplace_back();
    // A model that had to refuse something before tells nothing any more.
    if (model_.failures() > 0) return;
    const uint32_t arena = failure.segment == RequestLog::kNoSegment ? 0 : follower_.ArenaOf(failure.segment);
    const AllocatorModel::Block block = model_.Allocate(arena, failure.requested);
    if (block == AllocatorModel::kNone) return;
    model_.Free(block);
    trial_.fits.back() = model_.LargestPossible(arena, failure.requested);
  }

  const RequestLog& log_;
  const TrialLimits& limits_;
  std::atomic<uint64_t>& best_;
  Follower follower_;
  AllocatorModel& model_;
  WhatIf::Trial trial_;
  uint64_t judged_peak_ = 0;
  size_t judged_fits_ = 0;
};

}  // namespace

WhatIf FollowAsItWas(const RequestLog& log, const Arenas& arenas, const Settings& as_it_was) {
  WhatIf outcome;
  Follower follower(log, arenas, as_it_was);
  uint64_t reserved = 0;
  for (const Event& event : log.events()) {
    follower.Apply(event);
    if (event.what == What::kReserved) reserved = event.value;
    if (event.what != What::kAllocate) continue;
    ++outcome.blocks;
    outcome.reserved_peak = std::max(outcome.reserved_peak, reserved);
    outcome.differences += follower.model().reserved() != reserved;
  }
  outcome.model_reserved_peak = follower.model().peak_reserved();
  return outcome;
}

std::vector<WhatIf::Trial> TryKnobs(const RequestLog& log, const Arenas& arenas, const std::vector<Knob>& knobs,
                                    const TrialLimits& limits) {
  BestOfFamily best;
  for (std::atomic<uint64_t>& one : best) one = UINT64_MAX;
  OrderedWork<WhatIf::Trial> work(knobs.size(), std::max<size_t>(std::min(limits.threads, knobs.size()), 1),
                                  [&](size_t i) { return TrialRun(log, arenas, knobs[i], limits, &best).Make(); });
  std::vector<WhatIf::Trial> trials;
  while (trials.size() < knobs.size()) trials.push_back(work.Take());
  return trials;
}

}  // namespace vramtrack::torch_allocator
