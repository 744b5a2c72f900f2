// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/what_if.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "analyzer/fragmentation/torch_allocator/allocator_model.h"

namespace vramtrack::torch_allocator {
namespace {

using Event = RequestLog::Event;

// A model that follows a log.
class Follower {
 public:
  Follower(const Requests& requests, const Knob& knob)
      : requests_(requests), several_arenas_(requests.arenas->count > 1), model_(knob.settings) {}

  AllocatorModel& model() { return model_; }
  uint32_t ArenaOf(uint32_t segment) const { return several_arenas_ ? requests_.arenas->OfNumber(segment) : 0; }

  void Allocate(const Event& event) {
    if (event.slot >= blocks_.size()) blocks_.resize(event.slot + 1, AllocatorModel::kNone);
    blocks_[event.slot] = model_.Allocate(ArenaOf(event.segment), event.bytes, new_segment_);
    new_segment_ = {};
  }
  void Free(const Event& event) { model_.Free(std::exchange(blocks_[event.slot], AllocatorModel::kNone)); }
  void NewSegment(const Event& event) { new_segment_ = {event.value, event.bytes}; }

  void GiveBack(uint64_t number) {
    const Arenas& arenas = *requests_.arenas;
    std::set<uint32_t> kept;
    const auto next = arenas.kept_at_release.upper_bound(number);
    if (next != arenas.kept_at_release.begin()) kept = std::prev(next)->second;
    for (uint32_t arena = 0; arena < arenas.count; ++arena) model_.SetPrivate(arena, kept.count(arena) != 0);
    model_.EmptyCache();
  }

  // The requests of the largest step. All blocks that it allocates are freed again at its end.
  void MakePass() {
    std::map<uint32_t, AllocatorModel::Block> held;
    for (const LargestPass::Event& event : requests_.largest->events()) {
      if (event.bytes > 0) {
        held[event.block] = model_.Allocate(requests_.arenas->Of(event.segment), event.bytes);
        continue;
      }
      const auto block = held.find(event.block);
      if (block == held.end()) continue;
      if (block->second != AllocatorModel::kNone) model_.Free(block->second);
      held.erase(block);
    }
    for (const auto& [number, block] : held) {
      if (block != AllocatorModel::kNone) model_.Free(block);
    }
  }

 private:
  const Requests& requests_;
  const bool several_arenas_;
  AllocatorModel model_;
  std::vector<AllocatorModel::Block> blocks_;  // by slot
  SegmentHint new_segment_;
};

// What the trials of a family have reached so far, where they were followed to their ends without a failure.
using BestOfFamily = std::array<std::atomic<uint64_t>, Knob::kFamilies>;

struct TrialResult {
  WhatIf::Trial trial;
  std::vector<std::optional<uint64_t>> fits;  // by failure of the log: the most that could have been asked for
};

class TrialRun {
 public:
  TrialRun(const Requests& requests, const Knob& knob, const TrialLimits& limits, BestOfFamily* best)
      : requests_(requests),
        limits_(limits),
        best_((*best)[static_cast<size_t>(knob.family)]),
        follower_(requests, knob),
        model_(follower_.model()) {
    result_.trial.knob = knob;
  }

  TrialResult Make() {
    RequestLog::Reader reader(*requests_.log);
    bool stopped = false;
    for (Event event; !stopped && reader.Next(&event);) {
      Apply(event);
      stopped = limits_.may_win != nullptr && CannotWin();
    }
    result_.trial.reserved_peak = model_.peak_reserved();
    result_.trial.failures = model_.failures();
    result_.trial.stopped = stopped;
    if (stopped || model_.failures() > 0) return std::move(result_);
    uint64_t best = best_;
    while (model_.peak_reserved() < best && !best_.compare_exchange_weak(best, model_.peak_reserved())) {
    }
    return std::move(result_);
  }

 private:
  bool CannotWin() {
    if (model_.failures() > 0) return true;
    const bool changed = model_.peak_reserved() != judged_peak_ || result_.fits.size() != judged_fits_;
    if (!changed) return false;
    judged_peak_ = model_.peak_reserved();
    judged_fits_ = result_.fits.size();
    if (judged_fits_ < requests_.log->out_of_memory()) return false;
    return judged_peak_ > best_ || !limits_.may_win(judged_peak_);
  }

  void Apply(const Event& event) {
    switch (event.what) {
      case Event::What::kAllocate:
        return follower_.Allocate(event);
      case Event::What::kFree:
        return follower_.Free(event);
      case Event::What::kNewSegment:
        return follower_.NewSegment(event);
      case Event::What::kLimit:
        return model_.SetLimit(event.bytes);
      case Event::What::kGiveBack:
        // What the allocator does before it gives up, the model does by itself.
        if (!event.after_refusal) follower_.GiveBack(event.value);
        return;
      case Event::What::kStepEnd:
        return EndStep(event.value);
      case Event::What::kOutOfMemory:
        return AskAgain(event);
      case Event::What::kReserved:
      case Event::What::kTold:
        return;
    }
  }

  void EndStep(uint64_t step) {
    const Knob& knob = result_.trial.knob;
    // Set-up is part of the first step, so the pass comes behind it.
    if (step == 0 && knob.family == Knob::Family::kPreallocate) follower_.MakePass();
    if (knob.empty_cache_every > 0 && (step + 1) % knob.empty_cache_every == 0) model_.EmptyCache();
  }

  void AskAgain(const Event& event) {
    result_.fits.emplace_back();
    // One that had to refuse something before tells nothing any more.
    if (model_.failures() > 0) return;
    const uint32_t arena = event.segment == RequestLog::kNoSegment ? 0 : follower_.ArenaOf(event.segment);
    const AllocatorModel::Block block = model_.Allocate(arena, event.bytes);
    if (block == AllocatorModel::kNone) return;
    model_.Free(block);
    result_.fits.back() = model_.LargestPossible(arena, event.bytes);
  }

  const Requests& requests_;
  const TrialLimits& limits_;
  std::atomic<uint64_t>& best_;
  Follower follower_;
  AllocatorModel& model_;
  TrialResult result_;
  uint64_t judged_peak_ = 0;
  size_t judged_fits_ = 0;
};

}  // namespace

WhatIf FollowAsItWas(const Requests& requests, const Knob& as_it_was) {
  WhatIf outcome;
  Follower follower(requests, as_it_was);
  const AllocatorModel& model = follower.model();
  uint64_t reserved = 0;
  RequestLog::Reader reader(*requests.log);
  for (Event event; reader.Next(&event);) {
    switch (event.what) {
      case Event::What::kAllocate:
        follower.Allocate(event);
        ++outcome.blocks;
        outcome.reserved_peak = std::max(outcome.reserved_peak, reserved);
        outcome.differences += model.reserved() != reserved;
        break;
      case Event::What::kFree:
        follower.Free(event);
        break;
      case Event::What::kNewSegment:
        follower.NewSegment(event);
        break;
      case Event::What::kReserved:
        reserved = event.bytes;
        break;
      case Event::What::kGiveBack:
        follower.GiveBack(event.value);
        break;
      case Event::What::kTold:
        ++outcome.told;
        outcome.told_differences += model.reserved() != event.bytes;
        break;
      case Event::What::kOutOfMemory:
        outcome.failures.push_back({event.value, event.bytes, {}});
        break;
      case Event::What::kLimit:
      case Event::What::kStepEnd:
        break;
    }
  }
  outcome.model_reserved_peak = model.peak_reserved();
  return outcome;
}

void TryKnobs(const Requests& requests, const std::vector<Knob>& knobs, const TrialLimits& limits, WhatIf* outcome) {
  BestOfFamily best;
  for (std::atomic<uint64_t>& one : best) one = UINT64_MAX;
  std::vector<TrialResult> results(knobs.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < knobs.size();) results[i] = TrialRun(requests, knobs[i], limits, &best).Make();
  };
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < std::min(limits.threads, knobs.size())) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // Too many threads or too little memory: those that there are do it.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  for (TrialResult& result : results) {
    for (size_t i = 0; i < result.fits.size() && i < outcome->failures.size(); ++i) {
      if (result.fits[i]) outcome->failures[i].would_fit.push_back({result.trial.knob.setting, *result.fits[i]});
    }
    outcome->trials.push_back(std::move(result.trial));
  }
}

}  // namespace vramtrack::torch_allocator
