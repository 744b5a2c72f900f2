// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/segment_snapshot.h"

#include <algorithm>

#include "analyzer/export/moment_watch.h"
#include "analyzer/findings/framework_findings.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

using Action = DeviceSnapshot::Action;
using torch_allocator::SegmentLayout;

uint32_t DeviceOfAllocation(const LiveAllocation& allocation) { return static_cast<uint32_t>(allocation.device); }

}  // namespace

void SnapshotObserver::Add(uint32_t device, Action action, uint64_t address, uint64_t bytes, uint32_t stack) {
  if (states_[device].taken) return;
  const uint32_t step = ledger().steps().step();
  if (steps_ && (step < steps_->first || step > steps_->second)) return;
  DeviceSnapshot& snapshot = snapshots_[device];
  snapshot.events.push_back({action, address, bytes, stack, ledger().last_ticks()});
  if (snapshot.events.size() <= max_events_) return;
  snapshot.events.pop_front();
  ++snapshot.events_left_out;
}

void SnapshotObserver::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const SiteKey& key = ledger().sites()[allocation.site].key;
  const uint32_t device = DeviceOfAllocation(allocation);
  if (LevelOf(key.kind) == Level::kFramework) {
    states_[device].site_of_block[allocation.address] = allocation.site;
    Add(device, Action::kAlloc, allocation.address, allocation.bytes, key.stack);
  } else if (IsDeviceRange(key.kind) && key.device != SiteKey::kHost) {
    states_[device].driver[allocation.address] = {allocation.bytes, allocation.site, key.kind == schema::MAPPING};
    Add(device, IsSegment(allocation.site) ? Action::kSegmentAlloc : Action::kOtherAlloc, allocation.address,
        allocation.bytes, key.stack);
  }
  FrameworkObserver::OnAllocate(allocated);
}

void SnapshotObserver::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  const SiteKey& key = ledger().sites()[allocation.site].key;
  const uint32_t device = DeviceOfAllocation(allocation);
  if (LevelOf(key.kind) == Level::kFramework) {
    states_[device].site_of_block.erase(allocation.address);
    Add(device, Action::kFree, allocation.address, allocation.bytes, key.stack);
  } else if (IsDeviceRange(key.kind) && key.device != SiteKey::kHost) {
    states_[device].driver.erase(allocation.address);
    Add(device, IsSegment(allocation.site) ? Action::kSegmentFree : Action::kOtherFree, allocation.address,
        allocation.bytes, key.stack);
  }
  FrameworkObserver::OnFree(freed);
}

void SnapshotObserver::OnOtherEvent(const StreamEvent& event) {
  constexpr uint64_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
  if (event.operation == schema::FAIL && event.value[0] == kOutOfMemory) {
    Add(event.shape->device, Action::kOom, 0, event.shape->bytes, 0);
  }
  FrameworkObserver::OnOtherEvent(event);
}

// Mappings hold the blocks of expandable segments.
bool SnapshotObserver::IsSegment(uint32_t site) const {
  const Site& known = first_.sites()[site];
  return IsSegmentSite(known) || known.key.kind == schema::MAPPING;
}

void SnapshotObserver::Take(uint32_t device) {
  for (auto& [index, state] : states_) {
    if (device == index || device == MomentWatch::kAll) TakeOne(index, &state);
  }
}

void SnapshotObserver::TakeOne(uint32_t index, State* state) {
  if (state->taken) return;
  state->taken = true;
  DeviceSnapshot& snapshot = snapshots_[index];
  std::vector<DeviceSnapshot::Segment>& segments = snapshot.segments;
  const Device* device = DeviceOf(index);
  if (device != nullptr) {
    SegmentLayout::Segment before;
    for (const SegmentLayout::Segment& segment : device->layout.Segments()) {
      // An expandable segment is what is mapped in one range of addresses without a gap.
      const bool continues = !segments.empty() && segment.mapped && before.mapped && segment.name == before.name &&
                             before.begin + before.bytes == segment.begin;
      before = segment;
      if (continues) {
        segments.back().bytes += segment.bytes;
        continue;
      }
      segments.push_back({segment.begin, segment.bytes, segment.small, segment.mapped, true, 0, {}});
    }
  }
  // What the driver gave out: the segments' stacks, and memory that is none.
  std::vector<DeviceSnapshot::Segment> others;
  for (const auto& [address, memory] : state->driver) {
    const auto after = std::upper_bound(
        segments.begin(), segments.end(), address,
        [](uint64_t value, const DeviceSnapshot::Segment& segment) { return value < segment.address; });
    if (after != segments.begin() && address < std::prev(after)->address + std::prev(after)->bytes) {
      if (address == std::prev(after)->address) std::prev(after)->site = memory.site;
      continue;
    }
    if (memory.bytes == 0) continue;
    others.push_back({address, memory.bytes, false, memory.mapped, false, memory.site, {}});
    others.back().blocks.push_back({address, memory.bytes, memory.site});
  }
  if (device != nullptr) {
    std::vector<DeviceSnapshot::Block> blocks;
    device->layout.ForEachLive([&](SegmentLayout::Block /*block*/, uint64_t address, uint64_t bytes) {
      const auto site = state->site_of_block.find(address);
      blocks.push_back({address, bytes, site == state->site_of_block.end() ? UINT32_MAX : site->second});
    });
    std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
    auto segment = segments.begin();
    for (const DeviceSnapshot::Block& block : blocks) {
      while (segment != segments.end() && block.address >= segment->address + segment->bytes) ++segment;
      if (segment != segments.end() && block.address >= segment->address) segment->blocks.push_back(block);
    }
  }
  segments.insert(segments.end(), others.begin(), others.end());
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
}

}  // namespace vramtrack
