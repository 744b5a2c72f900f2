// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_PEAK_WINDOW_H_
#define ANALYZER_FRAGMENTATION_PEAK_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/placement.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// What a device's allocations did in the time before its peak, for a bound on what the peak would have needed. Times
// are the device's own events, counted from 0. Memory is bounded by the window. Thread-compatible.
class PeakWindow {
 public:
  static constexpr uint32_t kEvents = 4096;

  // `peak_event`: the allocation that raised the device to its peak.
  explicit PeakWindow(uint64_t peak_event)
      : begin_(peak_event >= kEvents ? peak_event - kEvents + 1 : 0), peak_(peak_event) {}

  // Whether anything before `event` concerns the window no more, or not yet.
  bool Contains(uint64_t event) const { return event >= begin_ && event <= peak_; }

  // To be called for each event that it contains. `id` is an allocation's identity, `bytes` its size as rounded.
  void OnBirth(uint64_t event, AllocationName id, uint64_t bytes);
  void OnDeath(uint64_t event, AllocationName id, uint64_t bytes);

  // Enough bytes for all that was live in the window. `peak_bytes`: rounded sizes of all that was live at the peak;
  // what of it was there throughout the window lies at the bottom, whatever its number.
  uint64_t Bound(uint64_t peak_bytes) const;

 private:
  uint64_t begin_, peak_;
  std::vector<Lifetime> lifetimes_;
  absl::flat_hash_map<AllocationName, size_t> live_;  // born in the window: index into lifetimes_
  uint64_t born_and_live_bytes_ = 0;
};

// The windows of all devices, in a second replay. Thread-compatible.
class PeakWindows final : public ReplayObserver {
 public:
  // By device: the change of its leading scope that reached the peak (Scope::peak_change).
  explicit PeakWindows(const std::map<DeviceIndex, uint64_t>& peak_changes);

  // Null: not one of those.
  const PeakWindow* Find(DeviceIndex device) const;

  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;

 private:
  // The window that the allocation's change belongs to; usually null.
  PeakWindow* WindowOf(const ReplayAllocation& changed);

  std::map<DeviceIndex, PeakWindow> windows_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_PEAK_WINDOW_H_
