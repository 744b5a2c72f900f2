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

// Keeps the layout of each device's segments during a replay, and tells those who derive from it what the allocator
// did. Thread-compatible.
class FrameworkObserver : public ReplayObserver {
 public:
  // `known`: by device, what an earlier replay has learnt; null: this one learns it.
  explicit FrameworkObserver(const std::map<DeviceIndex, Arenas>* known) : known_(known) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

  std::map<DeviceIndex, Arenas> Learnt() const;
  // Blocks that the rules would have put elsewhere, as far as arenas were known.
  uint64_t Surprises(DeviceIndex device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? 0 : found->second.surprises;
  }

 protected:
  struct Device {
    explicit Device(const Arenas* known) : layout(known) {}

    SegmentLayout layout;
    uint64_t releases = 0;
    bool giving_back = false;     // segments, since the last block
    bool driver_refused = false;  // since the last block
    uint64_t surprises = 0;
  };

  // A block has got its place.
  virtual void OnPlaced(DeviceIndex /*device*/, const SegmentLayout::Placed& /*placed*/,
                        const ReplayAllocation& /*allocated*/) {}
  virtual void OnRemoved(DeviceIndex /*device*/, SegmentLayout::Block /*block*/, const ReplayAllocation& /*freed*/) {}
  // The allocator begins to give memory back: for the `release`th time, because the driver had refused some or
  // because it was told to.
  virtual void OnGiveBack(DeviceIndex /*device*/, uint64_t /*release*/, bool /*after_refusal*/) {}
  // It has given up.
  virtual void OnOutOfMemory(DeviceIndex /*device*/, const StreamEvent& /*event*/) {}

  const Ledger& ledger() const { return *ledger_; }
  const std::map<DeviceIndex, Device>& devices() const { return devices_; }
  // Null for one without a framework's level.
  Device* DeviceOf(DeviceIndex device);
  // What is known of its arenas from before; may be null.
  const Arenas* KnownOf(DeviceIndex device) const;

 private:
  static void EndGivingBack(Device* device);

  const std::map<DeviceIndex, Arenas>* known_;
  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, Device> devices_;   // those with a framework's level
  std::array<Device*, 64> by_number_ = {};  // the same
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FRAMEWORK_OBSERVER_H_
