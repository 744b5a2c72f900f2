// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_PEAK_WINDOW_H_
#define ANALYZER_PEAKS_PEAK_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Bytes that are needed from `birth` until just before `death`.
struct Lifetime {
  uint32_t birth = 0, death = 0;
  uint64_t bytes = 0;
};

// An offset for each lifetime, and the memory that is enough for them. Lifetimes that overlap in time do not overlap
// in memory.
struct Placement {
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;  // one for each lifetime; 0 for one without bytes or time
};

// Returns the best of four greedy placements, which know all lifetimes in advance. It needs at least the bytes that
// are live at the same time, and seldom much more. Time is quadratic in the number of lifetimes.
Placement BestPlacement(const std::vector<Lifetime>& lifetimes);

// Records a device's allocations in the time before its peak, to bound the memory that the peak needs. Times are the
// device's own events, counted from 0. Memory is bounded by the window. Thread-compatible.
class PeakWindow {
 public:
  static constexpr uint32_t kEvents = 4096;

  // `peak_event`: the allocation with which the device reached its peak.
  explicit PeakWindow(uint64_t peak_event)
      : begin_(peak_event >= kEvents ? peak_event - kEvents + 1 : 0), peak_(peak_event) {}

  // Returns whether the window contains `event`.
  bool Contains(uint64_t event) const { return event >= begin_ && event <= peak_; }

  // Record an event that the window contains. `id` identifies the allocation, `bytes` is its rounded size.
  void OnBirth(uint64_t event, AllocationName id, uint64_t bytes);
  void OnDeath(uint64_t event, AllocationName id, uint64_t bytes);

  // Returns a number of bytes that is enough for all allocations live in the window. `peak_bytes`: rounded sizes of
  // all allocations live at the peak. Allocations that are live throughout the window are placed first, at the lowest
  // offsets.
  uint64_t Bound(uint64_t peak_bytes) const;

 private:
  uint64_t begin_, peak_;
  std::vector<Lifetime> lifetimes_;
  absl::flat_hash_map<AllocationName, size_t> live_;  // allocations made in the window: index into lifetimes_
  uint64_t born_and_live_bytes_ = 0;
};

// Fills the windows of all devices in a second replay. Thread-compatible.
class PeakWindows final : public ReplayObserver {
 public:
  // `peak_changes`: for each device, the change at which its leading scope reached the peak (Scope::peak_change).
  explicit PeakWindows(const std::map<DeviceIndex, uint64_t>& peak_changes);

  // Returns null for a device without a window.
  const PeakWindow* Find(DeviceIndex device) const;

  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;

 private:
  // Returns the window that the allocation's change belongs to; usually null.
  PeakWindow* WindowOf(const ReplayAllocation& changed) {
    if (changed.scope == nullptr || !changed.scope->is_leading()) return nullptr;
    for (auto& [device, window] : windows_) {
      if (device == changed.scope->device && window.Contains(changed.scope->changes - 1)) return &window;
    }
    return nullptr;
  }

  std::vector<std::pair<DeviceIndex, PeakWindow>> windows_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_PEAK_WINDOW_H_
