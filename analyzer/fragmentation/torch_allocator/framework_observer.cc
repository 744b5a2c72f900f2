// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/framework_observer.h"

namespace vramtrack::torch_allocator {

FrameworkObserver::Device* FrameworkObserver::FindDevice(DeviceIndex device) {
  for (const Scope& scope : ledger_->scopes()) {
    if (scope.level != Level::kFramework || scope.device != device) continue;
    return by_number_[device.value()] = &devices_.emplace(device, KnownOf(device)).first->second;
  }
  return nullptr;
}

const Arenas* FrameworkObserver::KnownOf(DeviceIndex device) const {
  if (known_ == nullptr) return nullptr;
  static const Arenas kNothing;
  const auto learnt = known_->find(device);
  return learnt == known_->end() ? &kNothing : &learnt->second;
}

void FrameworkObserver::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const uint32_t kind = allocated.site.key.kind;
  const Name name = {allocated.slot, allocated.ordinal};
  if (LevelOf(kind) == Level::kFramework) {
    Device* device = DeviceOf(allocation.device());
    if (device == nullptr) return;
    EndGivingBack(device);
    device->driver_refused = false;
    const SegmentLayout::Placed placed = device->layout.Place(allocated.slot, allocation.address(), allocation.bytes);
    device->surprises += placed.surprising;
    OnPlaced(allocation.device(), placed, allocated);
    return;
  }
  if (!IsDeviceRange(kind) && kind != schema::ADDRESS_RANGE) return;
  Device* device = DeviceOf(allocation.device());
  if (device == nullptr) return;
  if (kind == schema::ADDRESS_RANGE) {
    device->layout.AddAddresses(name, allocation.address(), allocation.bytes);
  } else {
    device->layout.AddMemory(name, allocation.address(), allocation.bytes, kind == schema::MAPPING);
  }
}

void FrameworkObserver::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  const uint32_t kind = freed.site.key.kind;
  const auto index = allocation.device();
  if (LevelOf(kind) == Level::kFramework) {
    Device* device = DeviceOf(index);
    if (device == nullptr) return;
    EndGivingBack(device);
    const SegmentLayout::Block block = device->layout.Remove(allocation.address());
    if (block != SegmentLayout::kNone) OnRemoved(index, block, freed);
    return;
  }
  if (!IsDeviceRange(kind) && kind != schema::ADDRESS_RANGE) return;
  Device* device = DeviceOf(index);
  if (device != nullptr && kind == schema::ADDRESS_RANGE) return device->layout.RemoveAddresses(allocation.address());
  if (device == nullptr || !device->layout.RemoveMemory(allocation.address()) || device->giving_back) return;
  device->giving_back = true;
  OnGiveBack(index, ++device->releases, device->driver_refused);
}

void FrameworkObserver::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::FAIL) return;
  Device* device = DeviceOf(DeviceIndex(event.shape->device));
  if (device == nullptr) return;
  switch (LevelOf(event.shape->kind)) {
    case Level::kFramework:
      device->driver_refused = false;
      OnOutOfMemory(DeviceIndex(event.shape->device), event);
      break;
    case Level::kDriver:
      device->driver_refused = true;
      break;
    default:
      break;
  }
}

std::map<DeviceIndex, Arenas> FrameworkObserver::Learnt() const {
  std::map<DeviceIndex, Arenas> learnt;
  for (const auto& [index, device] : devices_) learnt.emplace(index, device.layout.Learnt());
  return learnt;
}

}  // namespace vramtrack::torch_allocator
