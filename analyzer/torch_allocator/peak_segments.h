// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
#define ANALYZER_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/torch_allocator/request_log.h"
#include "analyzer/torch_allocator/segment_layout.h"

namespace vramtrack::torch_allocator {

// The segments of a device at one moment, their blocks, and how long each block still lives.
struct SegmentMap {
  static constexpr uint64_t kNever = UINT64_MAX;

  struct LiveBlock {
    uint64_t address = 0, bytes = 0;
    SiteIndex site;
    std::pair<uint32_t, uint64_t> birth;  // step, and number among the allocations of its thread
    uint64_t death = kNever;              // counted in blocks freed before

    // Returns whether this block keeps its segment longer than `other`; of two that are never freed, the younger one.
    bool StaysLongerThan(const LiveBlock& other) const {
      return std::tie(death, birth) > std::tie(other.death, other.birth);
    }
  };
  uint32_t step = 0;
  std::vector<SegmentLayout::Segment> segments;  // sorted by address
  std::vector<LiveBlock> blocks;                 // by address
};

// Returns whether two mappings are one piece of memory.
inline bool Continues(const SegmentLayout::Segment& before, const SegmentLayout::Segment& segment) {
  return before.mapped && segment.mapped && before.arena == segment.arena && before.small == segment.small &&
         before.begin + before.bytes == segment.begin;
}

// The memory that one site's blocks pin: the free bytes of the segments in which one of these blocks is the last to be
// freed.
struct Pin {
  SiteIndex site;
  uint64_t segments = 0, bytes = 0;
};

// The segments that serve the same requests.
struct PoolUse {
  uint32_t arena = 0;
  bool small = false;
  uint64_t segments = 0, reserved = 0, live = 0;
  uint64_t releasable = 0;    // bytes in segments without a block
  uint64_t largest_free = 0;  // bytes of the largest free piece
};

// Use of segments: reserved == live + free_releasable + free_pinned, to the byte.
struct SegmentUse {
  uint64_t reserved = 0, live = 0, free_releasable = 0, free_pinned = 0;
  std::vector<Pin> pins;       // most bytes first
  std::vector<PoolUse> pools;  // by arena, large segments first
};

SegmentUse UseOf(const SegmentMap& map);

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
    absl::flat_hash_map<uint64_t, size_t> live;  // blocks that live on, by address: index into map.blocks
  };
  struct Device {
    DeviceIndex index;
    SegmentLayout layout;
    uint64_t releases = 0;
    bool releasing = false;       // the allocator has released segments since the last block
    bool driver_refused = false;  // the driver has refused memory since the last block

    std::array<Moment, kMoments> moments;
    uint64_t frees = 0;  // of blocks

    std::optional<RequestLog> requests;
    uint64_t total_bytes = 0;
    bool failed = false;
    uint32_t largest_step = UINT32_MAX;  // the step with the most live bytes, unless it is the first
    // Segment of the last block, by the thread's slot and for large and small blocks.
    std::vector<uint32_t> last_segment;
  };

  // Returns null for a device that is not followed.
  Device* DeviceOf(DeviceIndex device) {
    return device.value() < by_number_.size() ? by_number_[device.value()] : nullptr;
  }
  void AddBlock(const ReplayAllocation& allocated, Device* device);
  void RemoveBlock(uint64_t address, Device* device);
  void Record(const SegmentLayout::Placed& placed, const ReplayAllocation& allocated, Device* device);
  void RecordLimit(Device* device);
  void WakeUp(Device* device) const;
  static bool OnlyRepeats(const Device& device, const Scope& scope);
  void Take(Device* device, Moment* moment) const;

  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, Device> devices_;   // devices with a framework's level
  std::array<Device*, 64> by_number_ = {};  // the same devices by number
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_PEAK_SEGMENTS_H_
