// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/what_if.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/ordered_work.h"
#include "analyzer/torch_allocator/allocator_model.h"

namespace vramtrack::torch_allocator {
namespace {

using Event = RequestLog::Event;
using What = RequestLog::What;

Settings WithOrder(Settings settings, bool oldest_first) {
  settings.oldest_first = oldest_first;
  return settings;
}

// A model that follows a log: as the allocator was, or with a knob and the limits of the device.
class Follower {
 public:
  Follower(const RequestLog& log, const Arenas& arenas, const Knob& knob)
      : log_(log), arenas_(arenas), knob_(knob), model_(WithOrder(knob.settings, arenas.oldest_first)) {}

  const AllocatorModel& model() const { return model_; }
  // Returns for each failure so far the largest size with which the request would have succeeded; none if it would not
  // have.
  const std::vector<std::optional<uint64_t>>& fits() const { return fits_; }

  void Apply(const Event& event) {
    const bool as_it_was = knob_.family == Knob::Family::kNone;
    switch (event.what) {
      case What::kAllocate:
        if (event.block >= blocks_.size()) blocks_.resize(event.block + 1, model_.none());
        blocks_[event.block] =
            model_.Allocate(ArenaOf(event.segment), event.value, std::exchange(new_segment_, SegmentHint()));
        return;
      case What::kFree:
        return model_.Free(std::exchange(blocks_[event.block], model_.none()));
      case What::kNewSegment:
        new_segment_ = log_.new_segments()[event.value];
        return;
      case What::kEmptyCache:
        return Release(event.value);
      case What::kReleaseForRequest:
        if (as_it_was) Release(event.value);  // with a limit the model does so by itself
        return;
      case What::kLimit:
        if (!as_it_was) model_.SetLimit(event.value);
        return;
      case What::kStepEnd:
        return EndStep(event.value);
      case What::kOutOfMemory:
        if (!as_it_was) fits_.push_back(AskAgain(log_.failures()[event.value]));
        return;
      case What::kReserved:
        return;
    }
  }

 private:
  uint32_t ArenaOf(uint32_t segment) const {
    return arenas_.count > 1 && segment != RequestLog::kNoSegment ? arenas_.Of(segment) : 0;
  }

  void Release(uint64_t number) {
    std::set<uint32_t> kept;
    const auto next = arenas_.kept_at_release.upper_bound(number);
    if (next != arenas_.kept_at_release.begin()) kept = std::prev(next)->second;
    for (uint32_t arena = 0; arena < arenas_.count; ++arena) model_.SetPrivate(arena, kept.count(arena) != 0);
    model_.EmptyCache();
  }

  void EndStep(uint64_t step) {
    // Set-up is part of the first step, so the pass comes after it.
    if (step == 0 && knob_.family == Knob::Family::kPreallocate) MakePass();
    if (knob_.empty_cache_every > 0 && (step + 1) % knob_.empty_cache_every == 0) model_.EmptyCache();
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

  std::optional<uint64_t> AskAgain(const RequestLog::Failure& failure) {
    // A model that had to refuse something before tells nothing any more.
    if (model_.failures() > 0) return std::nullopt;
    const uint32_t arena = ArenaOf(failure.segment);
    const AllocatorModel::Block block = model_.Allocate(arena, failure.requested);
    if (block == model_.none()) return std::nullopt;
    model_.Free(block);
    return model_.LargestPossible(arena, failure.requested);
  }

  const RequestLog& log_;
  const Arenas& arenas_;
  const Knob& knob_;
  AllocatorModel model_;
  std::vector<AllocatorModel::Block> blocks_;  // by the log's number
  SegmentHint new_segment_;
  std::vector<std::optional<uint64_t>> fits_;
};

WhatIf::Trial TryKnob(const RequestLog& log, const Arenas& arenas, const Knob& knob, const MayWin& may_win) {
  WhatIf::Trial trial;
  trial.knob = knob;
  Follower follower(log, arenas, knob);
  const AllocatorModel& model = follower.model();
  uint64_t judged_peak = UINT64_MAX;
  for (const Event& event : log.events()) {
    follower.Apply(event);
    if (may_win == nullptr) continue;
    trial.stopped = model.failures() > 0;
    if (follower.fits().size() == log.failures().size() && model.peak_reserved() != judged_peak) {
      judged_peak = model.peak_reserved();
      trial.stopped |= !may_win(judged_peak);
    }
    if (trial.stopped) break;
  }
  trial.reserved_peak = model.peak_reserved();
  trial.failures = model.failures();
  trial.fits = follower.fits();
  return trial;
}

}  // namespace

std::vector<Knob> KnobsToTry(const Settings& as_it_was, bool has_steps, bool has_pass) {
  std::vector<Knob> knobs;
  const auto add = [&](Knob::Family family, std::string setting) -> Knob& {
    return knobs.emplace_back(Knob{family, std::move(setting), as_it_was, 0});
  };
  if (!as_it_was.expandable_segments) {
    add(Knob::Family::kExpandable, "expandable_segments:True").settings.expandable_segments = true;
    for (const uint32_t divisions : {2, 4, 8}) {
      add(Knob::Family::kRoundup, absl::StrCat("roundup_power2_divisions:", divisions))
          .settings.roundup_power2_divisions = divisions;
    }
  }
  if (!has_steps) return knobs;
  for (const uint32_t steps : {1, 10}) {
    add(Knob::Family::kEmptyCache, absl::StrCat("empty_cache:", steps)).empty_cache_every = steps;
  }
  if (has_pass) add(Knob::Family::kPreallocate, "preallocate:largest");
  return knobs;
}

WhatIf FollowAsItWas(const RequestLog& log, const Arenas& arenas, const Settings& as_it_was) {
  WhatIf outcome;
  const Knob none = {Knob::Family::kNone, "", as_it_was, 0};
  Follower follower(log, arenas, none);
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
                                    const MayWin& may_win, size_t threads) {
  OrderedWork<WhatIf::Trial> work(knobs.size(), std::max<size_t>(std::min(threads, knobs.size()), 1),
                                  [&](size_t i) { return TryKnob(log, arenas, knobs[i], may_win); });
  std::vector<WhatIf::Trial> trials;
  while (trials.size() < knobs.size()) trials.push_back(work.Take());
  return trials;
}

}  // namespace vramtrack::torch_allocator
