// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"

#include <algorithm>
#include <utility>

namespace vramtrack::torch_allocator {

PeakSegments::PeakSegments(const Ledger& first, const std::map<uint32_t, uint32_t>& growing_since)
    : FrameworkObserver(nullptr) {
  for (const Scope& scope : first.scopes()) {
    if (scope.level != Level::kFramework) continue;
    State& state = states_[scope.device];
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

void PeakSegments::OnPlaced(uint32_t device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated) {
  const auto found = states_.find(device);
  if (found == states_.end()) return;
  State& state = found->second;
  ++state.time;
  const SegmentLayout& layout = DeviceOf(device)->layout;
  if (placed.block != SegmentLayout::kNone) {
    if (placed.block >= state.born.size()) state.born.resize(layout.blocks());
    state.born[placed.block] = {allocated.allocation.site, state.time};
    if (ledger().steps().step() == state.largest_step) {
      const LiveAllocation& block = allocated.allocation;
      state.largest_pass.Allocate(placed.block, block.bytes, layout.SegmentAt(block.address));
    }
  }
  const Site& site = ledger().sites()[allocated.allocation.site];
  const uint64_t change = ledger().scopes()[site.scope].changes - 1;
  for (Moment& moment : state.moments) {
    if (moment.change == change) Take(layout, &state, &moment);
  }
}

void PeakSegments::OnStepEnd(uint32_t step) {
  for (auto& [index, state] : states_) {
    for (Moment& moment : state.moments) {
      if (moment.steps == step + 1 && DeviceOf(index) != nullptr) Take(DeviceOf(index)->layout, &state, &moment);
    }
  }
}

void PeakSegments::Take(const SegmentLayout& layout, State* state, Moment* moment) {
  SegmentMap& map = moment->map;
  map.step = ledger().steps().step();
  map.segments = layout.Segments();
  std::vector<std::pair<uint64_t, SegmentLayout::Block>> order;
  layout.ForEachLive([&](SegmentLayout::Block block, uint64_t address, uint64_t bytes) {
    order.push_back({address, block});
    map.blocks.push_back({address, bytes, state->born[block].site, state->born[block].time, SegmentMap::kNever});
  });
  std::sort(order.begin(), order.end());
  std::sort(map.blocks.begin(), map.blocks.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  for (size_t i = 0; i < order.size(); ++i) moment->live[order[i].second] = i;
  state->watched += order.size();
}

void PeakSegments::OnRemoved(uint32_t device, SegmentLayout::Block block, const ReplayAllocation& /*freed*/) {
  const auto found = states_.find(device);
  if (found == states_.end()) return;
  State& state = found->second;
  ++state.time;
  if (ledger().steps().step() == state.largest_step) state.largest_pass.Free(block);
  if (state.watched == 0) return;
  for (Moment& moment : state.moments) {
    const auto live = moment.live.find(block);
    if (live == moment.live.end()) continue;
    moment.map.blocks[live->second].death = state.time;
    moment.live.erase(live);
    --state.watched;
  }
}

std::map<uint32_t, PeakSegments::Maps> PeakSegments::Finish() {
  std::map<uint32_t, Maps> all;
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
    maps.placements = device->second.placements;
    maps.surprises = device->second.surprises;
    maps.expandable = device->second.layout.has_mapped_segments();
  }
  return all;
}

}  // namespace vramtrack::torch_allocator
