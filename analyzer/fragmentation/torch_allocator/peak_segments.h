// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/fragmentation/torch_allocator/framework_observer.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"

namespace vramtrack::torch_allocator {

// Learns the arenas of all devices, and keeps the map of their segments at two moments that an earlier replay has
// found: when most was live and when most was reserved. Thread-compatible.
class PeakSegments : public FrameworkObserver {
 public:
  // `first`: after its replay.
  explicit PeakSegments(const Ledger& first);

  // Whether there is a device to follow.
  bool has_devices() const { return !states_.empty(); }

  struct Maps {
    SegmentMap live_peak, reserved_peak;
    uint64_t placements = 0, surprises = 0;  // blocks, and those that the rules would have put elsewhere
    bool expandable = false;
  };
  // By device, after the replay.
  std::map<uint32_t, Maps> Finish();

 protected:
  void OnPlaced(uint32_t device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated) override;
  void OnRemoved(uint32_t device, SegmentLayout::Block block, const ReplayAllocation& freed) override;

 private:
  struct Moment {
    uint64_t change = UINT64_MAX;  // of the framework's scope
    SegmentMap map;
    absl::flat_hash_map<SegmentLayout::Block, size_t> live;  // index into map.blocks
  };
  struct State {
    std::vector<Moment> moments;
    struct Born {
      uint32_t site = 0;
      uint64_t time = 0;
    };
    std::vector<Born> born;  // by block
    uint64_t time = 0;
    size_t watched = 0;  // entries of all Moment::live
  };

  void Take(const SegmentLayout& layout, State* state, Moment* moment);

  std::map<uint32_t, State> states_;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
