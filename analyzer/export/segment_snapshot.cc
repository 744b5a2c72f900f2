// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/segment_snapshot.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
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
typename Map::iterator AtOrBefore(Map* by_address, uint64_t address) {
  const auto after = by_address->upper_bound(address);
  return after == by_address->begin() ? by_address->end() : std::prev(after);
}

// Follows a replay for TakeSnapshots(). Thread-compatible.
class SnapshotObserver final : public ReplayObserver {
 public:
  explicit SnapshotObserver(const ExportedProcess& process) : process_(process), first_(process.ledger()) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }

  void OnAllocate(const ReplayAllocation& allocated) override {
    const LiveAllocation& allocation = allocated.allocation;
    const SiteKey& key = allocated.site.key;
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

  void OnFree(const ReplayAllocation& freed) override {
    const LiveAllocation& allocation = freed.allocation;
    const SiteKey& key = freed.site.key;
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

  void OnOtherEvent(const StreamEvent& event) override {
    if (event.operation != schema::FAIL) return;
    // A framework's allocator tries again before it gives up: FailureLog knows which failures are one.
    const std::vector<OutOfMemory>& failures = process_.failures();
    while (next_failure_ < failures.size() && failures[next_failure_].ticks < event.time) ++next_failure_;
    for (size_t i = next_failure_; i < failures.size() && failures[i].ticks == event.time; ++i) {
      const OutOfMemory& failure = failures[i];
      if (failure.requested != event.shape->bytes || failure.device != DeviceIndex(event.shape->device)) continue;
      LiveAllocation failed{};
      failed.SetPlace(failure.device, i);
      failed.bytes = failure.requested;
      Add(&Of(failure.device), Action::kOom, failed, failure.stack);
      next_failure_ = i + 1;
      return;
    }
  }

  // Takes the snapshot of this device, or of kAllDevices. Later events are ignored.
  void Take(DeviceIndex device) {
    for (auto& [index, state] : states_) {
      if (device == index || device == ExportedProcess::kAllDevices) TakeOne(&state);
    }
  }

  // Returns the snapshots after the replay.
  std::map<DeviceIndex, DeviceSnapshot> Finish() {
    std::map<DeviceIndex, DeviceSnapshot> snapshots;
    for (auto& [device, state] : states_) snapshots[device] = std::move(state.snapshot);
    return snapshots;
  }

 private:
  struct Memory {
    uint64_t bytes = 0;
    SiteIndex site;
    bool segment = false;
    uint64_t event = 0;  // index of its allocation among the device's events
  };
  struct FrameworkBlock {
    uint64_t bytes = 0;
    SiteIndex site;
    bool lone = false;
  };
  struct State {
    bool taken = false;
    DeviceSnapshot snapshot;
    // By address: the driver's memory, reserved address ranges, and a framework's blocks.
    absl::btree_map<uint64_t, Memory> driver;
    absl::btree_map<uint64_t, uint64_t> reserved;
    absl::flat_hash_map<uint64_t, FrameworkBlock> blocks;
  };

  State& Of(DeviceIndex device) {
    if (last_ == nullptr || last_device_ != device) {
      last_ = &states_[device];
      last_device_ = device;
    }
    return *last_;
  }

  void Add(State* state, Action action, const LiveAllocation& allocation, StackIndex stack) {
    if (state->taken || !process_.IsInSpan(ledger_->steps().step())) return;
    DeviceSnapshot& snapshot = state->snapshot;
    snapshot.events.push_back({action, allocation.address(), allocation.bytes, stack, ledger_->last_ticks()});
    if (snapshot.events.size() <= process_.options().max_events) return;
    snapshot.events.pop_front();
    ++snapshot.events_left_out;
  }

  // Returns the driver memory that contains the address, keyed by its own address; null if there is none.
  static std::pair<const uint64_t, Memory>* MemoryAt(State* state, uint64_t address) {
    const auto memory = AtOrBefore(&state->driver, address);
    if (memory == state->driver.end() || address - memory->first >= memory->second.bytes) return nullptr;
    return &*memory;
  }

  // Returns whether the block is inside memory that the trace contains; that memory is then a segment.
  bool PlaceBlock(State* state, uint64_t address) const {
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

  bool IsMapping(SiteIndex site) const { return first_.sites()[site].key.kind == schema::MAPPING; }

  // Returns whether most of what this site allocates is segments. This is known from the start, from an earlier replay.
  // Memory of another site is a segment from its allocation on as soon as a block is inside it. Mappings hold the
  // blocks of expandable segments.
  bool IsSegment(SiteIndex site) const {
    const Site& known = first_.sites()[site];
    if (!IsMapping(site)) return IsSegmentSite(known);
    return std::any_of(first_.scopes().begin(), first_.scopes().end(), [&known](const Scope& scope) {
      return scope.level == Level::kFramework && scope.device == known.key.device;
    });
  }

  // Returns the action for an allocation of driver memory, or for its free.
  Action ActionOf(const Memory& memory, bool born) const {
    if (!memory.segment) return born ? Action::kOtherAlloc : Action::kOtherFree;
    if (IsMapping(memory.site)) return born ? Action::kSegmentMap : Action::kSegmentUnmap;
    return born ? Action::kSegmentAlloc : Action::kSegmentFree;
  }

  void TakeOne(State* state) const {
    if (state->taken) return;
    state->taken = true;
    std::vector<Segment>& segments = state->snapshot.segments;
    uint64_t range = 0;  // of reserved addresses, that the last segment is in
    for (const auto& [address, memory] : state->driver) {
      if (memory.bytes == 0) continue;
      const bool mapped = IsMapping(memory.site);
      const auto reserved = AtOrBefore(&state->reserved, address);
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
    std::sort(segments.begin(), segments.end(),
              [](const Segment& a, const Segment& b) { return a.address < b.address; });
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

  const ExportedProcess& process_;
  const Ledger& first_;  // after its replay
  const Ledger* ledger_ = nullptr;
  size_t next_failure_ = 0;
  std::map<DeviceIndex, State> states_;
  DeviceIndex last_device_;
  State* last_ = nullptr;  // of the device of the last event
};

}  // namespace

std::map<DeviceIndex, DeviceSnapshot> TakeSnapshots(const ExportedProcess& process) {
  SnapshotObserver observer(process);
  process.Replay({&observer}, [&observer](DeviceIndex device) { observer.Take(device); });
  return observer.Finish();
}

}  // namespace vramtrack
