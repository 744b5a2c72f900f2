// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/torch_allocator/framework_observer.h"
#include "analyzer/fragmentation/torch_allocator/request_log.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"

namespace vramtrack::torch_allocator {

// Infers the arenas of all devices, and keeps the map of their segments at moments that an earlier replay found: at
// the most live bytes, at the most reserved bytes, and, if these grew, when the growth began and at the end of the
// last complete step. Thread-compatible.
class PeakSegments final : public FrameworkObserver {
 public:
  // `first`: the ledger of the first replay. `growing_since`: for each device whose reserved bytes grew, the step from
  // which on they did.
  // Devices in `others` are left out: blocks there are not only PyTorch's.
  PeakSegments(const Ledger& first, const std::map<DeviceIndex, uint32_t>& growing_since,
               const std::set<DeviceIndex>& others = {});

  // Records this device's requests, for trials of other settings. `total_bytes`: memory of the device; 0: unknown.
  void Record(DeviceIndex device, uint64_t total_bytes);

  // Returns whether there is a device to follow.
  bool has_devices() const { return !states_.empty(); }

  struct Maps {
    SegmentMap live_peak, reserved_peak, growth_begin, growth_end;
    LargestPass largest_pass;  // of the step with the most live bytes, unless it was one of the first
    bool expandable = false;
    std::optional<RequestLog> requests;  // only if they were recorded
  };
  // Returns the maps by device, after the replay.
  std::map<DeviceIndex, Maps> Finish();

  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;

 protected:
  void OnPlaced(DeviceIndex device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated) override;
  void OnRemoved(DeviceIndex device, SegmentLayout::Block block, const ReplayAllocation& freed) override;
  void OnGiveBack(DeviceIndex device, uint64_t release, bool after_refusal) override;
  void OnOutOfMemory(DeviceIndex device, const StreamEvent& event) override;

 private:
  // Number of blocks from which arenas are inferred, at least: dozens of steps of most jobs.
  static constexpr uint64_t kLearntBlocks = RequestLog::kMaxBlocks / 10;
  enum { kLivePeak, kReservedPeak, kGrowthBegin, kGrowthEnd, kMoments };
  struct Moment {
    uint64_t change = UINT64_MAX;  // change of the framework's scope at the moment; or:
    uint32_t steps = UINT32_MAX;   // number of complete steps at the moment
    SegmentMap map;
    absl::flat_hash_map<SegmentLayout::Block, size_t> live;  // index into map.blocks
  };
  struct State {
    std::vector<Moment> moments;
    struct Born {
      SiteIndex site;
      uint64_t time = 0;
      uint8_t watched = 0;  // bits: the moments whose maps contain the block
    };
    std::vector<Born> born;  // by block
    uint64_t time = 0;
    uint32_t largest_step = UINT32_MAX;
    LargestPass largest_pass;
    std::optional<RequestLog> requests;
    uint64_t total_bytes = 0;
    bool asked = false;  // the allocator has done anything
    // segment of the last block, by the thread's slot and for large and small blocks
    std::vector<uint32_t> last_segment;
  };

  State* StateOf(DeviceIndex device) {
    return device.value() < by_number_.size() ? by_number_[device.value()] : nullptr;
  }
  RequestLog* LogOf(State* state);
  void RecordPlaced(DeviceIndex device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated,
                    State* state);
  void RecordLimit(DeviceIndex device, const State& state, RequestLog* log);
  void Take(SegmentLayout* layout, State* state, size_t moment);

  std::map<DeviceIndex, State> states_;
  std::array<State*, 64> by_number_ = {};  // the same states by device number
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
