// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/torch_allocator/framework_observer.h"
#include "analyzer/fragmentation/torch_allocator/largest_pass.h"
#include "analyzer/fragmentation/torch_allocator/request_log.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"

namespace vramtrack::torch_allocator {

// Learns the arenas of all devices, and keeps the map of their segments at moments that an earlier replay has found:
// when most was live, when most was reserved, and, where it grew, from when on and at the end of the last complete
// step. Thread-compatible.
class PeakSegments : public FrameworkObserver {
 public:
  // `first`: after its replay. `growing_since`: devices with the step from which on what they reserve grew.
  PeakSegments(const Ledger& first, const std::map<DeviceIndex, uint32_t>& growing_since);

  // Keeps what this device is asked for, for trials of other settings. `total_bytes`: its size; 0: unknown.
  void Record(DeviceIndex device, uint64_t total_bytes);

  // Whether there is a device to follow.
  bool has_devices() const { return !states_.empty(); }

  struct Maps {
    SegmentMap live_peak, reserved_peak, growth_begin, growth_end;
    LargestPass largest_pass;  // of the step in which most was live, if it was none of the first
    bool expandable = false;
    std::optional<RequestLog> requests;  // if they were recorded
  };
  // By device, after the replay.
  std::map<DeviceIndex, Maps> Finish();

  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;

 protected:
  void OnPlaced(DeviceIndex device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated) override;
  void OnRemoved(DeviceIndex device, SegmentLayout::Block block, const ReplayAllocation& freed) override;
  void OnGiveBack(DeviceIndex device, uint64_t release, bool after_refusal) override;
  void OnOutOfMemory(DeviceIndex device, const StreamEvent& event) override;

 private:
  // Blocks from which arenas are learnt where no requests are recorded.
  static constexpr uint64_t kLearntBlocks = RequestLog::kMaxBlocks / 4;
  enum { kLivePeak, kReservedPeak, kGrowthBegin, kGrowthEnd, kMoments };
  struct Moment {
    uint64_t change = UINT64_MAX;  // of the framework's scope; or:
    uint32_t steps = UINT32_MAX;   // when so many are complete
    SegmentMap map;
    absl::flat_hash_map<SegmentLayout::Block, size_t> live;  // index into map.blocks
  };
  struct State {
    std::vector<Moment> moments;
    struct Born {
      SiteIndex site;
      uint64_t time = 0;
      uint8_t watched = 0;  // the moments whose maps it is in
    };
    std::vector<Born> born;  // by block
    uint64_t time = 0;
    uint32_t largest_step = UINT32_MAX;
    LargestPass largest_pass;
    std::optional<RequestLog> requests;
    uint64_t total_bytes = 0;
    bool asked = false;                  // the allocator has done anything at all
    std::vector<uint32_t> last_segment;  // by slot of the thread, large and small: of its last block
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
  std::array<State*, 64> by_number_ = {};  // the same
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
