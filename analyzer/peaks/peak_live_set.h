// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_PEAK_LIVE_SET_H_
#define ANALYZER_PEAKS_PEAK_LIVE_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// The live allocations at each peak, by age and by size; the sums add up to the peak. Filled in a second replay when
// the devices reach their peaks. Thread-compatible.
class PeakLiveSet final : public ReplayObserver {
 public:
  // Number of steps before the peak's own that count as recent.
  static constexpr uint32_t kRecentSteps = 10;

  enum Age { kThisStep, kRecent, kEarlier, kSetup };  // kSetup: before the end of the first step
  static constexpr size_t kAges = 4;
  // The largest size of each class; the last class has no limit.
  static constexpr std::array<uint64_t, 6> kSizeLimits = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20};
  static constexpr size_t kSizes = kSizeLimits.size() + 1;

  struct Sum {
    uint64_t objects = 0, bytes = 0;
    void Add(uint64_t more, uint64_t of_bytes) {
      objects += more;
      bytes += of_bytes;
    }
  };
  struct Peak {
    std::array<Sum, kAges> ages;
    std::array<Sum, kSizes> sizes;
  };

  // `peak_changes`: for each device, the change at which its leading scope reached the peak (Scope::peak_change).
  explicit PeakLiveSet(const std::map<DeviceIndex, uint64_t>& peak_changes)
      : awaited_(peak_changes.begin(), peak_changes.end()) {}

  unsigned frequent_calls() const override { return awaited_.empty() ? 0 : kAllocations | kSums; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(!awaited_.empty(), 0) && allocated.scope != nullptr && allocated.scope->is_leading()) {
      LookAt(*allocated.scope);
    }
  }

  // Returns the peaks by device.
  const std::map<DeviceIndex, Peak>& peaks() const { return peaks_; }

 private:
  void LookAt(const Scope& scope) {
    // The change has been counted already.
    for (const auto& [device, change] : awaited_) {
      if (device == scope.device && scope.changes == change + 1) return Reached(scope);
    }
  }
  void Reached(const Scope& scope);

  const Ledger* ledger_ = nullptr;
  std::vector<std::pair<DeviceIndex, uint64_t>> awaited_;  // those that are not reached yet
  std::map<DeviceIndex, Peak> peaks_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_PEAK_LIVE_SET_H_
