// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"

#include <algorithm>
#include <utility>

namespace vramtrack::torch_allocator {

PeakSegments::PeakSegments(const Ledger& first, const std::map<DeviceIndex, uint32_t>& growing_since,
                           const std::set<DeviceIndex>& others)
    : FrameworkObserver(nullptr) {
  for (const Scope& scope : first.scopes()) {
    if (scope.level != Level::kFramework || others.count(scope.device) != 0) continue;
    State& state = states_[scope.device];
    if (scope.device.value() < by_number_.size()) by_number_[scope.device.value()] = &state;
    state.moments.resize(kMoments);
    if (scope.peak_moment.step > 0) state.largest_step = scope.peak_moment.step;
    if (scope.peak > 0) state.moments[kLivePeak].change = scope.peak_change;
    if (scope.reserved_peak > 0) state.moments[kReservedPeak].change = scope.reserved_peak_change;
    if (const auto since = growing_since.find(scope.device); since != growing_since.end()) {
      state.moments[kGrowthBegin].steps = since->second;
      state.moments[kGrowthEnd].steps = first.steps().step();
    }
  }
}

void PeakSegments::Record(DeviceIndex device, uint64_t total_bytes) {
  State* state = StateOf(device);
  if (state == nullptr) return;
  state->requests.emplace();
  state->total_bytes = total_bytes;
}

// Null if the device's requests are not recorded. Steps count from the first call on.
RequestLog* PeakSegments::LogOf(State* state) {
  if (!state->requests) return nullptr;
  state->asked = true;
  return &*state->requests;
}

// What is left of the device for segments, besides what others hold at this moment.
void PeakSegments::RecordLimit(DeviceIndex device, const State& state, RequestLog* log) {
  if (state.total_bytes == 0) return;
  for (const Scope& scope : ledger().scopes()) {
    if (!scope.is_device() || scope.device != device || scope.segments == nullptr) continue;
    const uint64_t segments = scope.segments->counted();
    const uint64_t others = scope.outside + (scope.live > segments ? scope.live - segments : 0);
    log->Limit(state.total_bytes > others ? state.total_bytes - others : 0);
  }
}

void PeakSegments::RecordPlaced(DeviceIndex device, const SegmentLayout::Placed& placed,
                                const ReplayAllocation& allocated, State* state) {
  SegmentLayout& layout = DeviceOf(device)->layout;
  RequestLog* log = LogOf(state);
  if (log == nullptr) return layout.RestAfter(kLearntBlocks);
  if (log->full()) return layout.RestAfter(0);
  layout.RestAfter(kLearntBlocks, SegmentLayout::kSettledBlocks, /*counts_uses=*/true);
  if (placed.block == SegmentLayout::kNone) return;
  const size_t last = 2 * size_t{allocated.slot.value()} + (placed.small ? 1 : 0);
  if (last >= state->last_segment.size()) state->last_segment.resize(last + 1, RequestLog::kNoSegment);
  state->last_segment[last] = placed.segment;
  log->Reserved(layout.reserved());
  const bool is_new = placed.new_segment.bytes > 0;
  // What others hold changes seldom.
  if (is_new || log->blocks() % 64 == 0) RecordLimit(device, *state, log);
  if (is_new) log->NewSegment(placed.new_segment);
  log->Allocate(placed.block, allocated.allocation.bytes, placed.segment);
}

void PeakSegments::OnGiveBack(DeviceIndex device, uint64_t release, bool after_refusal) {
  State* state = StateOf(device);
  RequestLog* log = state == nullptr ? nullptr : LogOf(state);
  if (log != nullptr) log->GiveBack(release, after_refusal);
}

void PeakSegments::OnOtherEvent(const StreamEvent& event) {
  FrameworkObserver::OnOtherEvent(event);
  if (event.operation != schema::FRAMEWORK_MEMORY || event.past) return;
  State* state = StateOf(DeviceIndex(event.shape->device));
  RequestLog* log = state == nullptr ? nullptr : LogOf(state);
  if (log != nullptr) log->Told(event.value[1]);
}

void PeakSegments::OnOutOfMemory(DeviceIndex device, const StreamEvent& event) {
  State* state = StateOf(device);
  RequestLog* log = state == nullptr ? nullptr : LogOf(state);
  if (log == nullptr || log->full() || state->total_bytes == 0) return;
  RecordLimit(device, *state, log);
  const size_t last = 2 * size_t{event.slot.value()} + (event.shape->bytes <= kSmallRequestBytes ? 1 : 0);
  log->OutOfMemory(event.time, event.shape->bytes,
                   last < state->last_segment.size() ? state->last_segment[last] : RequestLog::kNoSegment);
}

void PeakSegments::OnPlaced(DeviceIndex device, const SegmentLayout::Placed& placed,
                            const ReplayAllocation& allocated) {
  State* of_device = StateOf(device);
  if (of_device == nullptr) return;
  State& state = *of_device;
  ++state.time;
  RecordPlaced(device, placed, allocated, &state);
  SegmentLayout& layout = DeviceOf(device)->layout;
  if (placed.block != SegmentLayout::kNone) {
    if (placed.block >= state.born.size()) state.born.resize(layout.blocks());
    State::Born& born = state.born[placed.block];
    born.site = allocated.allocation.site;
    born.time = state.time;
    born.watched = 0;
    if (ledger().steps().step() == state.largest_step) {
      const LiveAllocation& block = allocated.allocation;
      state.largest_pass.Allocate(placed.block, block.bytes, layout.SegmentAt(block.address()));
    }
  }
  const uint64_t change = allocated.scope->changes - 1;
  for (size_t i = 0; i < state.moments.size(); ++i) {
    if (state.moments[i].change == change) Take(&layout, &state, i);
  }
}

void PeakSegments::OnStepEnd(uint32_t step) {
  for (auto& [index, state] : states_) {
    if (state.requests && state.asked) state.requests->StepEnd(step);
    for (size_t i = 0; i < state.moments.size(); ++i) {
      if (state.moments[i].steps == step + 1 && DeviceOf(index) != nullptr) Take(&DeviceOf(index)->layout, &state, i);
    }
  }
}

void PeakSegments::Take(SegmentLayout* layout, State* state, size_t index) {
  layout->Wake();
  Moment* moment = &state->moments[index];
  SegmentMap& map = moment->map;
  map.step = ledger().steps().step();
  map.segments = layout->Segments();
  std::vector<std::pair<uint64_t, SegmentLayout::Block>> order;
  layout->ForEachLive([&](SegmentLayout::Block block, uint64_t address, uint64_t bytes) {
    order.push_back({address, block});
    map.blocks.push_back({address, bytes, state->born[block].site, state->born[block].time, SegmentMap::kNever});
  });
  std::sort(order.begin(), order.end());
  std::sort(map.blocks.begin(), map.blocks.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  for (size_t i = 0; i < order.size(); ++i) {
    moment->live[order[i].second] = i;
    state->born[order[i].second].watched |= 1u << index;
  }
}

void PeakSegments::OnRemoved(DeviceIndex device, SegmentLayout::Block block, const ReplayAllocation& /*freed*/) {
  State* of_device = StateOf(device);
  if (of_device == nullptr) return;
  State& state = *of_device;
  ++state.time;
  if (RequestLog* log = LogOf(&state)) log->Free(block);
  if (ledger().steps().step() == state.largest_step) state.largest_pass.Free(block);
  State::Born& born = state.born[block];
  for (size_t i = 0; born.watched != 0 && i < state.moments.size(); ++i) {
    if ((born.watched >> i & 1) == 0) continue;
    Moment& moment = state.moments[i];
    const auto live = moment.live.find(block);
    if (live == moment.live.end()) continue;
    moment.map.blocks[live->second].death = state.time;
    moment.live.erase(live);
  }
  born.watched = 0;
}

std::map<DeviceIndex, PeakSegments::Maps> PeakSegments::Finish() {
  std::map<DeviceIndex, Maps> all;
  for (auto& [index, state] : states_) {
    Maps& maps = all[index];
    const auto device = devices().find(index);
    if (device == devices().end()) continue;
    const Arenas learnt = device->second.layout.Learnt();
    for (Moment& moment : state.moments) {
      for (SegmentLayout::Segment& segment : moment.map.segments) segment.arena = learnt.Of(segment.name);
    }
    maps.live_peak = std::move(state.moments[kLivePeak].map);
    maps.reserved_peak = std::move(state.moments[kReservedPeak].map);
    maps.growth_begin = std::move(state.moments[kGrowthBegin].map);
    maps.growth_end = std::move(state.moments[kGrowthEnd].map);
    maps.largest_pass = std::move(state.largest_pass);
    maps.expandable = device->second.layout.has_mapped_segments();
    maps.requests = std::move(state.requests);
  }
  return all;
}

}  // namespace vramtrack::torch_allocator
