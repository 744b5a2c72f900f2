// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/segment_snapshot.h"

#include <algorithm>
#include <iterator>

#include "analyzer/export/exported_process.h"
#include "analyzer/findings/core/framework_findings.h"
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

SnapshotObserver::State& SnapshotObserver::Of(DeviceIndex device) {
  states_.GrowTo(device);
  if (states_[device] == nullptr) states_[device] = std::make_unique<State>();
  return *states_[device];
}

bool SnapshotObserver::IsWanted(const State& state) const {
  const uint32_t step = ledger_->steps().step();
  return !state.taken && (!steps_ || (step >= steps_->first && step <= steps_->second));
}

void SnapshotObserver::Add(State* state, Action action, const LiveAllocation& allocation, StackIndex stack) {
  if (!IsWanted(*state)) return;
  DeviceSnapshot& snapshot = state->snapshot;
  snapshot.events.push_back({action, allocation.address(), allocation.bytes, stack, ledger_->last_ticks()});
  if (snapshot.events.size() <= max_events_) return;
  snapshot.events.pop_front();
  ++snapshot.events_left_out;
}

void SnapshotObserver::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const SiteKey& key = ledger_->sites()[allocation.site].key;
  if (key.device == kHost) return;
  if (LevelOf(key.kind) == Level::kFramework) {
    State& state = Of(key.device);
    const bool lone = !PlaceBlock(&state, allocation.address());
    state.blocks[allocation.address()] = {allocation.bytes, allocation.site, lone};
    Add(&state, lone ? Action::kLoneAlloc : Action::kAlloc, allocation, key.stack);
  } else if (IsDeviceRange(key.kind)) {
    State& state = Of(key.device);
    Memory& memory = state.driver[allocation.address()];
    memory = {allocation.bytes, allocation.site, IsSegment(allocation.site),
              state.snapshot.events_left_out + state.snapshot.events.size()};
    Add(&state, ActionOf(memory, true), allocation, key.stack);
  } else if (key.kind == schema::ADDRESS_RANGE) {
    Of(key.device).reserved[allocation.address()] = allocation.bytes;
  }
}

void SnapshotObserver::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  const SiteKey& key = ledger_->sites()[allocation.site].key;
  if (key.device == kHost) return;
  if (LevelOf(key.kind) == Level::kFramework) {
    State& state = Of(key.device);
    const auto block = state.blocks.find(allocation.address());
    const bool lone = block != state.blocks.end() && block->second.lone;
    if (block != state.blocks.end()) state.blocks.erase(block);
    Add(&state, lone ? Action::kLoneFree : Action::kFree, allocation, key.stack);
  } else if (IsDeviceRange(key.kind)) {
    State& state = Of(key.device);
    const auto memory = state.driver.find(allocation.address());
    if (memory == state.driver.end()) return;
    Add(&state, ActionOf(memory->second, false), allocation, key.stack);
    state.driver.erase(memory);
  } else if (key.kind == schema::ADDRESS_RANGE) {
    Of(key.device).reserved.erase(allocation.address());
  }
}

void SnapshotObserver::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::FAIL) return;
  // A framework's allocator tries again before it gives up: FailureLog knows which failures are one.
  while (next_failure_ < failures_.size() && failures_[next_failure_].ticks < event.time) ++next_failure_;
  for (size_t i = next_failure_; i < failures_.size() && failures_[i].ticks == event.time; ++i) {
    const OutOfMemory& failure = failures_[i];
    if (failure.requested != event.shape->bytes || failure.device != DeviceIndex(event.shape->device)) continue;
    LiveAllocation failed{};
    failed.SetPlace(failure.device, i);
    failed.bytes = failure.requested;
    Add(&Of(failure.device), Action::kOom, failed, failure.stack);
    next_failure_ = i + 1;
    return;
  }
}

std::pair<const uint64_t, SnapshotObserver::Memory>* SnapshotObserver::MemoryAt(State* state, uint64_t address) {
  auto after = state->driver.upper_bound(address);
  if (after == state->driver.begin()) return nullptr;
  --after;
  return address - after->first < after->second.bytes ? &*after : nullptr;
}

bool SnapshotObserver::PlaceBlock(State* state, uint64_t address) const {
  std::pair<const uint64_t, Memory>* known = MemoryAt(state, address);
  if (known == nullptr) return false;
  Memory& memory = known->second;
  if (memory.segment) return true;
  memory.segment = true;
  DeviceSnapshot& snapshot = state->snapshot;
  const uint64_t at = memory.event - snapshot.events_left_out;
  if (memory.event < snapshot.events_left_out || at >= snapshot.events.size()) return true;  // forgotten
  DeviceSnapshot::Event& allocated = snapshot.events[at];
  // It was not wanted if it is another one.
  if (allocated.action == Action::kOtherAlloc && allocated.address == known->first) {
    allocated.action = ActionOf(memory, true);
  }
  return true;
}

// Mappings hold the blocks of expandable segments.
bool SnapshotObserver::IsSegment(SiteIndex site) const {
  const Site& known = first_.sites()[site];
  if (known.key.kind != schema::MAPPING) return IsSegmentSite(known);
  return std::any_of(first_.scopes().begin(), first_.scopes().end(), [&known](const Scope& scope) {
    return scope.level == Level::kFramework && scope.device == known.key.device;
  });
}

Action SnapshotObserver::ActionOf(const Memory& memory, bool born) const {
  if (!memory.segment) return born ? Action::kOtherAlloc : Action::kOtherFree;
  if (first_.sites()[memory.site].key.kind == schema::MAPPING) {
    return born ? Action::kSegmentMap : Action::kSegmentUnmap;
  }
  return born ? Action::kSegmentAlloc : Action::kSegmentFree;
}

void SnapshotObserver::Take(DeviceIndex device) {
  for (const DeviceIndex i : states_.indices()) {
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
    // An expandable segment is what is mapped in one range of addresses without a gap.
    const uint64_t in = mapped && memory.segment && reserved != state->reserved.end() ? reserved->first : 0;
    const bool continues = in != 0 && in == range && !segments.empty() && segments.back().expandable &&
                           segments.back().address + segments.back().bytes == address;
    if (continues) {
      segments.back().bytes += memory.bytes;
    } else {
      segments.push_back({address, memory.bytes, false, mapped, memory.segment, memory.site, {}});
    }
    range = in;
  }
  std::vector<Block> blocks;
  for (const auto& [address, memory] : state->blocks) {
    blocks.push_back({address, memory.bytes, memory.site});
    if (MemoryAt(state, address) != nullptr) continue;
    segments.push_back({address, memory.bytes, false, false, true, memory.site, {}});
  }
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.address < b.address; });
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.address < b.address; });
  auto segment = segments.begin();
  for (const Block& block : blocks) {
    while (segment != segments.end() && block.address >= segment->address + segment->bytes) ++segment;
    if (segment != segments.end() && block.address >= segment->address) segment->blocks.push_back(block);
  }
  for (Segment& one : segments) {
    one.small = one.of_framework && IsSmall(one);
    // Memory that others asked for is one block.
    if (!one.of_framework) one.blocks.push_back({one.address, one.bytes, one.site});
  }
}

std::map<DeviceIndex, DeviceSnapshot> SnapshotObserver::Finish() {
  std::map<DeviceIndex, DeviceSnapshot> snapshots;
  for (const DeviceIndex i : states_.indices()) {
    if (states_[i] != nullptr) snapshots[i] = std::move(states_[i]->snapshot);
  }
  return snapshots;
}

}  // namespace vramtrack
