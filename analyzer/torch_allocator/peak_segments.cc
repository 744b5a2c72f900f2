// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/peak_segments.h"

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
    device.index = scope.device;
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
    WakeUp(device);
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
  if (!IsDeviceRange(kind)) return;
  WakeUp(device);
  if (!device->layout.RemoveMemory(address) || device->releasing) return;
  device->releasing = true;
  ++device->releases;
  if (device->requests)
    device->requests->Add(device->driver_refused ? What::kReleaseForRequest : What::kEmptyCache, device->releases);
}

void PeakSegments::OnOtherEvent(const StreamEvent& event) {
  Device* device = event.operation == schema::FAIL ? DeviceOf(DeviceIndex(event.shape->device)) : nullptr;
  if (device == nullptr) return;
  const Level level = LevelOf(event.shape->kind);
  if (level == Level::kDriver) device->driver_refused = true;
  if (level != Level::kFramework) return;
  device->driver_refused = false;
  if (!device->requests || device->total_bytes == 0) return;
  RecordLimit(device);
  const size_t last = 2 * size_t{event.slot.value()} + (event.shape->bytes <= kSmallRequestBytes ? 1 : 0);
  const bool known = last < device->last_segment.size();
  device->requests->OutOfMemory(
      {event.time, event.shape->bytes, known ? device->last_segment[last] : RequestLog::kNoSegment});
}

// A layout at rest has forgotten the blocks.
void PeakSegments::WakeUp(Device* device) const {
  if (!device->layout.at_rest()) return;
  std::vector<std::pair<uint64_t, uint64_t>> live;
  ledger_->ForEachBlock(device->index, [&live](const AllocationName&, const LiveAllocation& block) {
    live.push_back({block.address(), block.bytes});
  });
  device->layout.Wake(live);
}

void PeakSegments::AddBlock(const ReplayAllocation& allocated, Device* device) {
  if (device->releasing) device->layout.OnReleased(device->releases);
  device->releasing = device->driver_refused = false;
  SegmentLayout& layout = device->layout;
  if (!layout.at_rest()) {
    const SegmentLayout::Placed placed = layout.Place(allocated.allocation.address(), allocated.allocation.bytes);
    if (device->requests) Record(placed, allocated, device);
    const bool is_learnt = device->requests ? device->requests->full() : layout.placements() >= kLearntBlocks;
    if (is_learnt && layout.is_settled()) layout.Rest();
  }
  const uint64_t change = allocated.scope->changes - 1;
  for (Moment& moment : device->moments) {
    if (moment.change == change) Take(device, &moment);
  }
}

void PeakSegments::Record(const SegmentLayout::Placed& placed, const ReplayAllocation& allocated, Device* device) {
  RequestLog& log = *device->requests;
  if (OnlyRepeats(*device, *allocated.scope)) log.Close();
  if (log.full() || placed.block == SegmentLayout::kNone) return;
  const size_t last = 2 * size_t{allocated.slot.value()} + (placed.small ? 1 : 0);
  if (last >= device->last_segment.size()) device->last_segment.resize(last + 1, RequestLog::kNoSegment);
  device->last_segment[last] = placed.segment;
  log.Reserved(device->layout.reserved());
  const bool is_new = placed.new_segment.bytes > 0;
  // What others hold changes seldom.
  if (is_new || log.blocks() % 64 == 0) RecordLimit(device);
  if (is_new) log.NewSegment(placed.new_segment);
  log.Add(What::kAllocate, allocated.allocation.bytes, placed.block, placed.segment);
}

// Whether the most is reserved, and steps since then show nothing new. Other settings are judged by the same steps; the
// largest of them is known if it was not later.
bool PeakSegments::OnlyRepeats(const Device& device, const Scope& scope) {
  return !device.failed && device.layout.is_settled() && scope.changes > device.moments[kReservedPeak].change;
}

// What is left of the device for segments, besides what others hold at this moment.
void PeakSegments::RecordLimit(Device* device) {
  if (device->total_bytes == 0) return;
  for (const Scope& scope : ledger_->scopes()) {
    if (!scope.is_device() || scope.device != device->index || scope.segments == nullptr) continue;
    const uint64_t segments = scope.segments->counted();
    const uint64_t others = scope.outside + (scope.live > segments ? scope.live - segments : 0);
    device->requests->Limit(device->total_bytes > others ? device->total_bytes - others : 0);
  }
}

void PeakSegments::RemoveBlock(uint64_t address, Device* device) {
  if (device->releasing) device->layout.OnReleased(device->releases);
  device->releasing = false;
  if (!device->layout.at_rest()) {
    const uint32_t block = device->layout.Remove(address);
    if (device->requests && block != SegmentLayout::kNone) device->requests->Add(What::kFree, 0, block);
  }
  ++device->frees;
  for (Moment& moment : device->moments) {
    const auto live = moment.live.find(address);
    if (live == moment.live.end()) continue;
    moment.map.blocks[live->second].death = device->frees;
    moment.live.erase(live);
  }
}

void PeakSegments::OnStepEnd(uint32_t step) {
  for (auto& [index, device] : devices_) {
    if (device.requests && !device.requests->events().empty()) {
      if (step == device.largest_step) device.requests->EndPass();
      // Steps count from the allocator's first request on.
      device.requests->Add(What::kStepEnd, step);
      if (step + 1 == device.largest_step) device.requests->BeginPass();
    }
    for (Moment& moment : device.moments) {
      if (moment.steps == step + 1) Take(&device, &moment);
    }
  }
}

void PeakSegments::OnEnd() {
  // The largest step may be the last one, which does not end.
  for (auto& [index, device] : devices_) {
    if (device.requests && ledger_->steps().step() == device.largest_step) device.requests->EndPass();
  }
}

void PeakSegments::Take(Device* device, Moment* moment) const {
  WakeUp(device);
  SegmentMap& map = moment->map;
  map.step = ledger_->steps().step();
  map.segments = device->layout.Segments();
  ledger_->ForEachBlock(device->index, [&map](const AllocationName& name, const LiveAllocation& block) {
    map.blocks.push_back({block.address(), block.bytes, block.site, {block.birth_step, name.second}});
  });
  std::sort(map.blocks.begin(), map.blocks.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  for (size_t i = 0; i < map.blocks.size(); ++i) moment->live[map.blocks[i].address] = i;
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

SegmentUse UseOf(const SegmentMap& map) {
  SegmentUse use;
  std::map<SiteIndex, Pin> pins;
  std::map<std::pair<uint32_t, bool>, PoolUse> pools;
  auto first = map.blocks.begin();
  const SegmentLayout::Segment* before = nullptr;
  uint64_t free = 0;  // bytes of the free piece so far, which may go on in the next mapping
  for (const SegmentLayout::Segment& segment : map.segments) {
    if (before == nullptr || !Continues(*before, segment)) free = 0;
    before = &segment;
    PoolUse& pool = pools[{segment.arena, segment.small}];
    pool.arena = segment.arena;
    pool.small = segment.small;
    const uint64_t end = segment.begin + segment.bytes;
    while (first != map.blocks.end() && first->address + first->bytes <= segment.begin) ++first;
    const SegmentMap::LiveBlock* last_to_go = nullptr;
    uint64_t live = 0, at = segment.begin;
    const auto add_free = [&](uint64_t to) {
      if (to > at) free += to - at;
      pool.largest_free = std::max(pool.largest_free, free);
    };
    for (auto block = first; block != map.blocks.end() && block->address < end; ++block) {
      const uint64_t to = std::min(block->address + block->bytes, end);
      if (to <= at) continue;
      add_free(block->address);
      free = 0;
      live += to - std::max(block->address, at);
      at = to;
      if (last_to_go == nullptr || block->StaysLongerThan(*last_to_go)) last_to_go = &*block;
    }
    add_free(end);
    ++pool.segments;
    pool.reserved += segment.bytes;
    pool.live += live;
    use.reserved += segment.bytes;
    use.live += live;
    if (last_to_go == nullptr) {
      use.free_releasable += segment.bytes;
      pool.releasable += segment.bytes;
    } else if (live < segment.bytes) {
      use.free_pinned += segment.bytes - live;
      Pin& pin = pins[last_to_go->site];
      pin.site = last_to_go->site;
      ++pin.segments;
      pin.bytes += segment.bytes - live;
    }
  }
  for (const auto& [key, pool] : pools) use.pools.push_back(pool);
  for (const auto& [site, pin] : pins) use.pins.push_back(pin);
  std::stable_sort(use.pins.begin(), use.pins.end(), [](const Pin& a, const Pin& b) { return a.bytes > b.bytes; });
  return use;
}

}  // namespace vramtrack::torch_allocator
