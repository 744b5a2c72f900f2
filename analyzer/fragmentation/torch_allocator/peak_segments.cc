// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"

#include <algorithm>
#include <utility>

#include "analyzer/ledger/kind.h"

namespace vramtrack::torch_allocator {

using What = RequestLog::What;

PeakSegments::PeakSegments(const Ledger& first, const std::map<DeviceIndex, uint32_t>& growing_since,
                           const std::set<DeviceIndex>& others) {
  for (const Scope& scope : first.scopes()) {
    if (scope.level != Level::kFramework || others.count(scope.device) != 0) continue;
    Device& device = devices_[scope.device];
    if (scope.device.value() < by_number_.size()) by_number_[scope.device.value()] = &device;
    if (scope.peak_moment.step > 0) device.largest_step = scope.peak_moment.step;
    if (scope.reserved_peak > 0) device.moments[kReservedPeak].change = scope.reserved_peak_change;
    if (const auto since = growing_since.find(scope.device); since != growing_since.end()) {
      device.moments[kGrowthBegin].steps = since->second;
      device.moments[kGrowthEnd].steps = first.steps().step();
    }
  }
}

void PeakSegments::Record(DeviceIndex index, uint64_t total_bytes, bool failed) {
  Device* device = DeviceOf(index);
  if (device == nullptr) return;
  device->requests.emplace();
  device->total_bytes = total_bytes;
  device->failed = failed;
}

void PeakSegments::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const uint32_t kind = allocated.site.key.kind;
  Device* device = DeviceOf(allocation.device());
  if (device == nullptr) return;
  if (LevelOf(kind) == Level::kFramework) {
    AddBlock(allocated, device);
  } else if (kind == schema::ADDRESS_RANGE) {
    device->layout.AddAddresses(allocation.address(), allocation.bytes);
  } else if (IsDeviceRange(kind)) {
    device->layout.AddMemory(allocation.address(), allocation.bytes, kind == schema::MAPPING);
  }
}

void PeakSegments::OnFree(const ReplayAllocation& freed) {
  const uint64_t address = freed.allocation.address();
  const uint32_t kind = freed.site.key.kind;
  Device* device = DeviceOf(freed.allocation.device());
  if (device == nullptr) return;
  if (LevelOf(kind) == Level::kFramework) return RemoveBlock(address, device);
  if (kind == schema::ADDRESS_RANGE) return device->layout.RemoveAddresses(address);
  if (!IsDeviceRange(kind) || !device->layout.RemoveMemory(address) || device->releasing) return;
  device->releasing = true;
  ++device->releases;
  if (!device->requests) return;
  device->asked = true;
  device->requests->Add(device->driver_refused ? What::kReleaseForRequest : What::kEmptyCache, device->releases);
}

void PeakSegments::OnOtherEvent(const StreamEvent& event) {
  const DeviceIndex index(event.shape->device);
  Device* device = event.operation == schema::FAIL ? DeviceOf(index) : nullptr;
  if (device == nullptr) return;
  const Level level = LevelOf(event.shape->kind);
  if (level == Level::kDriver) device->driver_refused = true;
  if (level != Level::kFramework) return;
  device->driver_refused = false;
  if (!device->requests || device->total_bytes == 0) return;
  device->asked = true;
  RecordLimit(index, device);
  const size_t last = 2 * size_t{event.slot.value()} + (event.shape->bytes <= kSmallRequestBytes ? 1 : 0);
  const bool known = last < device->last_segment.size();
  device->requests->OutOfMemory(
      {event.time, event.shape->bytes, known ? device->last_segment[last] : RequestLog::kNoSegment});
}

void PeakSegments::AddBlock(const ReplayAllocation& allocated, Device* device) {
  const LiveAllocation& block = allocated.allocation;
  if (device->releasing) device->layout.OnReleased(device->releases);
  device->releasing = device->driver_refused = false;
  const SegmentLayout::Placed placed = device->layout.Place(block.address(), block.bytes);
  ++device->time;
  RecordPlaced(placed, allocated, device);
  if (placed.block != SegmentLayout::kNone) {
    if (placed.block >= device->born.size()) device->born.resize(placed.block + 1);
    device->born[placed.block] = {block.site, device->time, 0};
  }
  const uint64_t change = allocated.scope->changes - 1;
  for (size_t i = 0; i < kMoments; ++i) {
    if (device->moments[i].change == change) Take(device, i);
  }
}

void PeakSegments::RecordPlaced(const SegmentLayout::Placed& placed, const ReplayAllocation& allocated,
                                Device* device) {
  if (!device->requests) return device->layout.RestAfter(kLearntBlocks);
  RequestLog& log = *device->requests;
  if (OnlyRepeats(*device, *allocated.scope)) log.Close();
  if (log.full()) return device->layout.RestAfter(0);
  device->asked = true;
  if (placed.block == SegmentLayout::kNone) return;
  const size_t last = 2 * size_t{allocated.slot.value()} + (placed.small ? 1 : 0);
  if (last >= device->last_segment.size()) device->last_segment.resize(last + 1, RequestLog::kNoSegment);
  device->last_segment[last] = placed.segment;
  log.Reserved(device->layout.reserved());
  const bool is_new = placed.new_segment.bytes > 0;
  // What others hold changes seldom.
  if (is_new || log.blocks() % 64 == 0) RecordLimit(allocated.allocation.device(), device);
  if (is_new) log.NewSegment(placed.new_segment);
  log.Add(What::kAllocate, allocated.allocation.bytes, placed.block, placed.segment);
}

// Whether the most is reserved, and steps since then show nothing new. Other settings are judged by the same steps; the
// largest of them is known if it was not later.
bool PeakSegments::OnlyRepeats(const Device& device, const Scope& scope) {
  return !device.failed && device.layout.is_settled() && scope.changes > device.moments[kReservedPeak].change;
}

// What is left of the device for segments, besides what others hold at this moment.
void PeakSegments::RecordLimit(DeviceIndex index, Device* device) {
  if (device->total_bytes == 0) return;
  for (const Scope& scope : ledger_->scopes()) {
    if (!scope.is_device() || scope.device != index || scope.segments == nullptr) continue;
    const uint64_t segments = scope.segments->counted();
    const uint64_t others = scope.outside + (scope.live > segments ? scope.live - segments : 0);
    device->requests->Limit(device->total_bytes > others ? device->total_bytes - others : 0);
  }
}

void PeakSegments::RemoveBlock(uint64_t address, Device* device) {
  if (device->releasing) device->layout.OnReleased(device->releases);
  device->releasing = false;
  const SegmentLayout::Block block = device->layout.Remove(address);
  if (block == SegmentLayout::kNone) return;
  ++device->time;
  if (device->requests) device->requests->Add(What::kFree, 0, block);
  const uint8_t watched = std::exchange(device->born[block].watched, 0);
  for (size_t i = 0; i < kMoments && watched != 0; ++i) {
    Moment& moment = device->moments[i];
    const auto live = (watched >> i & 1) == 0 ? moment.live.end() : moment.live.find(block);
    if (live == moment.live.end()) continue;
    moment.map.blocks[live->second].death = device->time;
    moment.live.erase(live);
  }
}

void PeakSegments::OnStepEnd(uint32_t step) {
  for (auto& [index, device] : devices_) {
    if (device.requests && device.asked) {
      if (step == device.largest_step) device.requests->EndPass();
      // Steps count from the allocator's first request on.
      device.requests->Add(What::kStepEnd, step);
      if (step + 1 == device.largest_step) device.requests->BeginPass();
    }
    for (size_t i = 0; i < kMoments; ++i) {
      if (device.moments[i].steps == step + 1) Take(&device, i);
    }
  }
}

void PeakSegments::OnEnd() {
  // The largest step may be the last one, which does not end.
  for (auto& [index, device] : devices_) {
    if (device.requests && ledger_->steps().step() == device.largest_step) device.requests->EndPass();
  }
}

void PeakSegments::Take(Device* device, size_t index) {
  device->layout.Wake();
  Moment& moment = device->moments[index];
  moment.map.step = ledger_->steps().step();
  moment.map.segments = device->layout.Segments();
  std::vector<std::pair<uint64_t, SegmentLayout::Block>> order;
  device->layout.ForEachLive([&](SegmentLayout::Block block, uint64_t address, uint64_t bytes) {
    order.push_back({address, block});
    moment.map.blocks.push_back({address, bytes, device->born[block].site, device->born[block].time});
  });
  std::sort(order.begin(), order.end());
  std::sort(moment.map.blocks.begin(), moment.map.blocks.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (size_t i = 0; i < order.size(); ++i) {
    moment.live[order[i].second] = i;
    device->born[order[i].second].watched |= 1u << index;
  }
}

std::map<DeviceIndex, PeakSegments::Result> PeakSegments::Finish() {
  std::map<DeviceIndex, Result> all;
  for (auto& [index, device] : devices_) {
    Result& result = all[index];
    result.arenas = device.layout.Learnt();
    for (Moment& moment : device.moments) {
      for (SegmentLayout::Segment& segment : moment.map.segments) segment.arena = result.arenas.Of(segment.number);
    }
    result.reserved_peak = std::move(device.moments[kReservedPeak].map);
    result.growth_begin = std::move(device.moments[kGrowthBegin].map);
    result.growth_end = std::move(device.moments[kGrowthEnd].map);
    result.expandable = device.layout.has_mapped_segments();
    result.requests = std::move(device.requests);
  }
  return all;
}

}  // namespace vramtrack::torch_allocator
