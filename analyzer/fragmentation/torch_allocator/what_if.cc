// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/what_if.h"

#include <algorithm>
#include <utility>

namespace vramtrack::torch_allocator {
namespace {

void Give(AllocatorModel* model, std::vector<AllocatorModel::Block>* blocks, const SegmentLayout::Placed& placed,
          uint64_t bytes) {
  if (placed.block >= blocks->size()) blocks->resize(placed.block + 1, AllocatorModel::kNone);
  (*blocks)[placed.block] = model->Allocate(placed.arena, bytes, placed.new_segment);
}

}  // namespace

WhatIf::State* WhatIf::StateOf(uint32_t device) {
  const auto found = states_.find(device);
  if (found != states_.end()) return &found->second;
  const auto knobs = knobs_.find(device);
  if (knobs == knobs_.end() || knobs->second.empty()) return nullptr;
  // The first one is the allocator as it was.
  State state = {{knobs->second[0], AllocatorModel(knobs->second[0].settings), {}}, {}, 0, {}};
  for (size_t i = 1; i < knobs->second.size(); ++i) {
    state.trials.push_back({knobs->second[i], AllocatorModel(knobs->second[i].settings), {}});
  }
  const auto total = totals_.find(device);
  if (total != totals_.end()) state.total = total->second;
  return &states_.emplace(device, std::move(state)).first->second;
}

// What is left of the device for segments, beside what others hold at this moment.
void WhatIf::SetLimits(uint32_t device, State* state) {
  if (state->total == 0) return;
  for (const Scope& scope : ledger().scopes()) {
    if (!scope.is_device() || scope.device != device || scope.segments == nullptr) continue;
    const uint64_t segments = scope.segments->counted();
    const uint64_t others = scope.outside + (scope.live > segments ? scope.live - segments : 0);
    for (Run& run : state->trials) run.model.SetLimit(state->total > others ? state->total - others : 0);
  }
}

void WhatIf::OnPlaced(uint32_t device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated) {
  State* state = StateOf(device);
  if (state == nullptr || placed.block == SegmentLayout::kNone || state->outcome.blocks >= kMaxBlocks) return;
  Outcome& outcome = state->outcome;
  const SegmentLayout& layout = DeviceOf(device)->layout;
  const uint64_t bytes = allocated.allocation.bytes;
  ++outcome.blocks;
  Give(&state->real.model, &state->real.blocks, placed, bytes);
  outcome.reserved_peak = std::max(outcome.reserved_peak, layout.reserved());
  outcome.differences += state->real.model.reserved() != layout.reserved();
  if (placed.new_segment.bytes > 0 || outcome.blocks % 64 == 1) SetLimits(device, state);
  for (Run& run : state->trials) Give(&run.model, &run.blocks, placed, bytes);
}

void WhatIf::OnRemoved(uint32_t device, SegmentLayout::Block block, const ReplayAllocation& /*freed*/) {
  State* state = StateOf(device);
  if (state == nullptr) return;
  const auto take = [block](Run* run) {
    if (block >= run->blocks.size()) return;
    run->model.Free(std::exchange(run->blocks[block], AllocatorModel::kNone));
  };
  take(&state->real);
  for (Run& run : state->trials) take(&run);
}

void WhatIf::OnGiveBack(uint32_t device, uint64_t release, bool after_refusal) {
  State* state = StateOf(device);
  if (state == nullptr) return;
  const Arenas* arenas = KnownOf(device);
  std::set<uint32_t> kept;
  if (arenas != nullptr) {
    const auto next = arenas->kept_at_release.upper_bound(release);
    if (next != arenas->kept_at_release.begin()) kept = std::prev(next)->second;
  }
  const auto empty = [&](Run* run) {
    for (uint32_t arena = 0; arenas != nullptr && arena < arenas->count; ++arena) {
      run->model.SetPrivate(arena, kept.count(arena) != 0);
    }
    run->model.EmptyCache();
  };
  empty(&state->real);
  // What the allocator does before it gives up, the models do themselves.
  if (after_refusal) return;
  for (Run& run : state->trials) empty(&run);
}

// The largest step's requests, none of which outlives the pass.
void WhatIf::MakePass(uint32_t device, AllocatorModel* model) const {
  const auto pass = passes_.find(device);
  if (pass == passes_.end()) return;
  const Arenas* arenas = KnownOf(device);
  std::map<uint32_t, AllocatorModel::Block> held;
  for (const LargestPass::Event& event : pass->second.events()) {
    if (event.bytes > 0) {
      held[event.block] = model->Allocate(arenas == nullptr ? 0 : arenas->Of(event.segment), event.bytes);
      continue;
    }
    const auto block = held.find(event.block);
    if (block == held.end()) continue;
    if (block->second != AllocatorModel::kNone) model->Free(block->second);
    held.erase(block);
  }
  for (const auto& [number, block] : held) {
    if (block != AllocatorModel::kNone) model->Free(block);
  }
}

void WhatIf::OnStepEnd(uint32_t step) {
  for (auto& [device, state] : states_) {
    for (Run& run : state.trials) {
      // Set-up is part of the first step, so the pass comes behind it.
      if (step == 0 && run.knob.family == Knob::Family::kPreallocate) MakePass(device, &run.model);
      if (run.knob.empty_cache_every > 0 && (step + 1) % run.knob.empty_cache_every == 0) run.model.EmptyCache();
    }
  }
}

void WhatIf::OnOtherEvent(const StreamEvent& event) {
  FrameworkObserver::OnOtherEvent(event);
  if (event.operation != schema::FRAMEWORK_MEMORY || event.past) return;
  State* state = StateOf(event.shape->device);
  if (state == nullptr || state->outcome.blocks >= kMaxBlocks) return;
  ++state->outcome.told;
  state->outcome.told_differences += state->real.model.reserved() != event.value[1];
}

void WhatIf::OnOutOfMemory(uint32_t device, const StreamEvent& event) {
  State* state = StateOf(device);
  if (state == nullptr || state->outcome.blocks >= kMaxBlocks || state->total == 0) return;
  SetLimits(device, state);
  Failure failure;
  failure.ticks = event.time;
  failure.requested = event.shape->bytes;
  const uint32_t arena = DeviceOf(device)->layout.ArenaOf(event.slot, failure.requested);
  for (Run& run : state->trials) {
    // One that had to refuse something before tells nothing any more.
    if (run.model.failures() > 0) continue;
    const AllocatorModel::Block block = run.model.Allocate(arena, failure.requested);
    if (block == AllocatorModel::kNone) continue;
    run.model.Free(block);
    failure.would_fit.push_back({run.knob.setting, run.model.LargestPossible(arena, failure.requested)});
  }
  state->outcome.failures.push_back(std::move(failure));
}

std::map<uint32_t, WhatIf::Outcome> WhatIf::Finish() {
  std::map<uint32_t, Outcome> outcomes;
  for (auto& [device, state] : states_) {
    Outcome& outcome = outcomes[device] = std::move(state.outcome);
    outcome.model_reserved_peak = state.real.model.peak_reserved();
    for (const Run& run : state.trials) {
      outcome.trials.push_back({run.knob, run.model.peak_reserved(), run.model.failures()});
    }
  }
  return outcomes;
}

}  // namespace vramtrack::torch_allocator
