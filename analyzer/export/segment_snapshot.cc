// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/segment_snapshot.h"

#include <algorithm>
#include <iterator>

#include "analyzer/export/moment_watch.h"
#include "analyzer/findings/framework_findings.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

using Action = DeviceSnapshot::Action;
using Segment = DeviceSnapshot::Segment;
using Block = DeviceSnapshot::Block;

// c10/cuda/CUDACachingAllocator.cpp: blocks of up to kSmallSize come from segments of kSmallBuffer.
constexpr uint64_t kSmallSize = 1 << 20, kSmallBuffer = 2 << 20;

bool IsSmall(const Segment& segment) {
  return (segment.expandable || segment.bytes == kSmallBuffer) &&
         std::all_of(segment.blocks.begin(), segment.blocks.end(),
                     [](const Block& block) { return block.bytes <= kSmallSize; });
}

// The last element of `by_address` at or before `address`; its end for none.
template <typename Map>
typename Map::const_iterator AtOrBefore(const Map& by_address, uint64_t address) {
  const auto after = by_address.upper_bound(address);
  return after == by_address.begin() ? by_address.end() : std::prev(after);
}

}  // namespace

SnapshotObserver::State& SnapshotObserver::Of(uint32_t device) {
  if (device >= states_.size()) states_.resize(device + 1);
  if (states_[device] == nullptr) states_[device] = std::make_unique<State>();
  return *states_[device];
}

bool SnapshotObserver::IsWanted(const State& state) const {
  const uint32_t step = ledger_->steps().step();
  return !state.taken && (!steps_ || (step >= steps_->first && step <= steps_->second));
}

void SnapshotObserver::Add(State* state, Action action, const LiveAllocation& allocation, uint32_t stack) {
  if (!IsWanted(*state)) return;
  DeviceSnapshot& snapshot = state->snapshot;
  snapshot.events.push_back({action, allocation.address, allocation.bytes, stack, ledger_->last_ticks()});
  if (snapshot.events.size() <= max_events_) return;
  snapshot.events.pop_front();
  ++snapshot.events_left_out;
}

void SnapshotObserver::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const SiteKey& key = ledger_->sites()[allocation.site].key;
  if (key.device == SiteKey::kHost) return;
  if (LevelOf(key.kind) == Level::kFramework) {
    State& state = Of(key.device);
    state.blocks[allocation.address] = {allocation.bytes, allocation.site};
    Add(&state, Action::kAlloc, allocation, key.stack);
  } else if (IsDeviceRange(key.kind)) {
    State& state = Of(key.device);
    state.driver[allocation.address] = {allocation.bytes, allocation.site};
    Add(&state, ActionOf(allocation.site, true), allocation, key.stack);
  } else if (key.kind == schema::ADDRESS_RANGE) {
    Of(key.device).reserved[allocation.address] = allocation.bytes;
  }
}

void SnapshotObserver::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  const SiteKey& key = ledger_->sites()[allocation.site].key;
  if (key.device == SiteKey::kHost) return;
  if (LevelOf(key.kind) == Level::kFramework) {
    State& state = Of(key.device);
    state.blocks.erase(allocation.address);
    Add(&state, Action::kFree, allocation, key.stack);
  } else if (IsDeviceRange(key.kind)) {
    State& state = Of(key.device);
    state.driver.erase(allocation.address);
    Add(&state, ActionOf(allocation.site, false), allocation, key.stack);
  } else if (key.kind == schema::ADDRESS_RANGE) {
    Of(key.device).reserved.erase(allocation.address);
  }
}

void SnapshotObserver::OnOtherEvent(const StreamEvent& event) {
  constexpr uint64_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
  if (event.operation != schema::FAIL || event.value[0] != kOutOfMemory) return;
  if (event.shape->device > SiteKey::kMaxDevice) return;
  LiveAllocation failed{};
  failed.bytes = event.shape->bytes;
  Add(&Of(event.shape->device), Action::kOom, failed, 0);
}

// Mappings hold the blocks of expandable segments.
bool SnapshotObserver::IsSegment(uint32_t site) const {
  const Site& known = first_.sites()[site];
  if (known.key.kind != schema::MAPPING) return IsSegmentSite(known);
  return std::any_of(first_.scopes().begin(), first_.scopes().end(), [&known](const Scope& scope) {
    return scope.level == Level::kFramework && scope.device == known.key.device;
  });
}

Action SnapshotObserver::ActionOf(uint32_t site, bool born) const {
  if (!IsSegment(site)) return born ? Action::kOtherAlloc : Action::kOtherFree;
  if (first_.sites()[site].key.kind == schema::MAPPING) return born ? Action::kSegmentMap : Action::kSegmentUnmap;
  return born ? Action::kSegmentAlloc : Action::kSegmentFree;
}

void SnapshotObserver::Take(uint32_t device) {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != nullptr && (device == i || device == MomentWatch::kAll)) TakeOne(states_[i].get());
  }
}

void SnapshotObserver::TakeOne(State* state) {
  if (state->taken) return;
  state->taken = true;
  std::vector<Segment>& segments = state->snapshot.segments;
  uint64_t range = 0;  // of reserved addresses, that the last segment is in
  for (const auto& [address, memory] : state->driver) {
    if (memory.bytes == 0) continue;
    const bool mapped = first_.sites()[memory.site].key.kind == schema::MAPPING;
    const auto reserved = AtOrBefore(state->reserved, address);
    const uint64_t in = mapped && reserved != state->reserved.end() ? reserved->first : 0;
    // An expandable segment is what is mapped in one range of addresses without a gap.
    const bool continues = in != 0 && in == range && !segments.empty() && segments.back().expandable &&
                           segments.back().address + segments.back().bytes == address;
    if (continues) {
      segments.back().bytes += memory.bytes;
    } else {
      segments.push_back({address, memory.bytes, false, mapped, false, memory.site, {}});
    }
    range = in;
  }
  std::vector<Block> blocks;
  for (const auto& [address, memory] : state->blocks) blocks.push_back({address, memory.bytes, memory.site});
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.address < b.address; });
  auto segment = segments.begin();
  for (const Block& block : blocks) {
    while (segment != segments.end() && block.address >= segment->address + segment->bytes) ++segment;
    if (segment != segments.end() && block.address >= segment->address) segment->blocks.push_back(block);
  }
  for (Segment& one : segments) {
    one.of_framework = !one.blocks.empty() || IsSegment(one.site);
    one.small = one.of_framework && IsSmall(one);
    // Memory that others asked for is one block.
    if (!one.of_framework) one.blocks.push_back({one.address, one.bytes, one.site});
  }
}

std::map<uint32_t, DeviceSnapshot> SnapshotObserver::Finish() {
  std::map<uint32_t, DeviceSnapshot> snapshots;
  for (uint32_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != nullptr) snapshots[i] = std::move(states_[i]->snapshot);
  }
  return snapshots;
}

}  // namespace vramtrack
