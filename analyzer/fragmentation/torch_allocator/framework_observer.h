// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FRAMEWORK_OBSERVER_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FRAMEWORK_OBSERVER_H_

#include <array>
#include <cstdint>
#include <map>

#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/torch_allocator/segment_layout.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack::torch_allocator {

// Keeps the layout of each device's segments during a replay, and reports to derived classes what the allocator does.
// Thread-compatible.
class FrameworkObserver : public ReplayObserver {
 public:
  // `known`: the arenas of each device from an earlier replay; null: this replay infers them.
  explicit FrameworkObserver(const std::map<DeviceIndex, Arenas>* known) : known_(known) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

  std::map<DeviceIndex, Arenas> Learnt() const;
  // Returns the number of blocks that the allocator's rules would have placed elsewhere, as far as arenas were known.
  uint64_t Surprises(DeviceIndex device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? 0 : found->second.surprises;
  }

 protected:
  struct Device {
    explicit Device(const Arenas* known) : layout(known) {}

    SegmentLayout layout;
    uint64_t releases = 0;
    bool giving_back = false;     // the allocator has released segments since the last block
    bool driver_refused = false;  // the driver has refused memory since the last block
    uint64_t surprises = 0;
  };

  // Called when a block has been placed.
  virtual void OnPlaced(DeviceIndex /*device*/, const SegmentLayout::Placed& /*placed*/,
                        const ReplayAllocation& /*allocated*/) {}
  virtual void OnRemoved(DeviceIndex /*device*/, SegmentLayout::Block /*block*/, const ReplayAllocation& /*freed*/) {}
  // Called when the allocator begins to release memory for the `release`th time, because the driver refused memory or
  // because the program requested it.
  virtual void OnGiveBack(DeviceIndex /*device*/, uint64_t /*release*/, bool /*after_refusal*/) {}
  // Called when the allocator fails with an out-of-memory error.
  virtual void OnOutOfMemory(DeviceIndex /*device*/, const StreamEvent& /*event*/) {}

  const Ledger& ledger() const { return *ledger_; }
  const std::map<DeviceIndex, Device>& devices() const { return devices_; }
  // Returns null for a device without a framework's level.
  Device* DeviceOf(DeviceIndex device) {
    if (device.value() >= by_number_.size()) return nullptr;
    Device* const known = by_number_[device.value()];
    return __builtin_expect(known != nullptr, 1) ? known : FindDevice(device);
  }
  // Returns the arenas of an earlier replay; may be null.
  const Arenas* KnownOf(DeviceIndex device) const;

 private:
  Device* FindDevice(DeviceIndex device);
  // With the first block that comes or goes after it.
  static void EndGivingBack(Device* device) {
    if (device->giving_back) device->layout.OnReleased(device->releases);
    device->giving_back = false;
  }

  const std::map<DeviceIndex, Arenas>* known_;
  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, Device> devices_;   // devices with a framework's level
  std::array<Device*, 64> by_number_ = {};  // the same devices by number
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FRAMEWORK_OBSERVER_H_
