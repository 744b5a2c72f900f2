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
#include "analyzer/fragmentation/torch_allocator/request_log.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack::torch_allocator {

// Infers the arenas of all devices, and keeps the map of their segments at moments that an earlier replay found: at
// the most reserved bytes, and, if these grew, when the growth began and at the end of the last complete step. Follows
// a replay. Thread-compatible.
class PeakSegments final : public ReplayObserver {
 public:
  // `first`: the ledger of the first replay. `growing_since`: for each device whose reserved bytes grew, the step from
  // which on they did. Devices in `others` are left out: blocks there are not only PyTorch's.
  PeakSegments(const Ledger& first, const std::map<DeviceIndex, uint32_t>& growing_since,
               const std::set<DeviceIndex>& others = {});

  // Records this device's requests, for trials of other settings: all of them if some `failed`, otherwise until steps
  // repeat after the peak. `total_bytes`: memory of the device; 0: unknown.
  void Record(DeviceIndex device, uint64_t total_bytes, bool failed);

  // Returns whether there is a device to follow.
  bool has_devices() const { return !devices_.empty(); }

  struct Result {
    Arenas arenas;
    SegmentMap reserved_peak, growth_begin, growth_end;
    bool expandable = false;
    std::optional<RequestLog> requests;  // only if they were recorded
  };
  // Returns the results by device, after the replay.
  std::map<DeviceIndex, Result> Finish();

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;
  void OnStepEnd(uint32_t step) override;
  void OnEnd() override;

 private:
  // Number of blocks from which arenas are inferred, at least: dozens of steps of most jobs.
  static constexpr uint64_t kLearntBlocks = RequestLog::kMaxBlocks / 10;

  enum { kReservedPeak, kGrowthBegin, kGrowthEnd, kMoments };
  struct Moment {
    uint64_t change = UINT64_MAX;  // change of the framework's scope at the moment; or:
    uint32_t steps = UINT32_MAX;   // number of complete steps at the moment
    SegmentMap map;
    absl::flat_hash_map<SegmentLayout::Block, size_t> live;  // index into map.blocks
  };
  struct Born {
    SiteIndex site;
    uint64_t time = 0;
    uint8_t watched = 0;  // bits: the moments whose maps contain the block
  };
  struct Device {
    SegmentLayout layout;
    uint64_t releases = 0;
    bool releasing = false;       // the allocator has released segments since the last block
    bool driver_refused = false;  // the driver has refused memory since the last block

    std::array<Moment, kMoments> moments;
    std::vector<Born> born;  // by block
    uint64_t time = 0;       // counted in blocks allocated and freed

    std::optional<RequestLog> requests;
    uint64_t total_bytes = 0;
    bool failed = false;
    uint32_t largest_step = UINT32_MAX;  // the step with the most live bytes, unless it is the first
    bool asked = false;                  // the allocator has done anything
    // Segment of the last block, by the thread's slot and for large and small blocks.
    std::vector<uint32_t> last_segment;
  };

  // Returns null for a device that is not followed.
  Device* DeviceOf(DeviceIndex device) {
    return device.value() < by_number_.size() ? by_number_[device.value()] : nullptr;
  }
  void AddBlock(const ReplayAllocation& allocated, Device* device);
  void RemoveBlock(uint64_t address, Device* device);
  void RecordPlaced(const SegmentLayout::Placed& placed, const ReplayAllocation& allocated, Device* device);
  void RecordLimit(DeviceIndex index, Device* device);
  static bool OnlyRepeats(const Device& device, const Scope& scope);
  void Take(Device* device, size_t moment);

  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, Device> devices_;   // devices with a framework's level
  std::array<Device*, 64> by_number_ = {};  // the same devices by number
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
