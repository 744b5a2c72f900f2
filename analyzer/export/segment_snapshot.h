// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_
#define ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"

namespace vramtrack {

// The composition of a device's memory at one moment, and the events before it, as in PyTorch's memory snapshots.
struct DeviceSnapshot {
  struct Block {
    uint64_t address = 0, bytes = 0;
    SiteIndex site;
  };
  struct Segment {
    uint64_t address = 0, bytes = 0;
    bool small = false, expandable = false;
    bool of_framework = false;  // otherwise driver memory without blocks, which is a block itself
    SiteIndex site;             // the site that requested it from the driver
    std::vector<Block> blocks;  // live, by address
  };
  // Driver memory is a segment, a piece of an expandable segment, or memory that was not requested by a framework's
  // allocator. A lone block is one whose segment is not in the trace.
  enum class Action : uint8_t {
    kAlloc,
    kFree,
    kSegmentAlloc,
    kSegmentFree,
    kSegmentMap,
    kSegmentUnmap,
    kOtherAlloc,
    kOtherFree,
    kLoneAlloc,
    kLoneFree,
    kOom
  };
  struct Event {
    Action action;
    uint64_t address = 0, bytes = 0;  // for kOom: the index of the ledger's failure, and the requested bytes
    StackIndex stack = kEmptyStack;
    uint64_t ticks = 0;
  };
  std::vector<Segment> segments;  // by address
  std::deque<Event> events;       // only the last events
  uint64_t events_left_out = 0;   // number of earlier events that were left out
};

// Collects snapshots during a second replay. Memory is bounded by live memory and by `max_events` for each device.
// Thread-compatible.
class SnapshotObserver final : public ReplayObserver {
 public:
  // `first` is the ledger after its replay, `failures` are its failures; both must outlive this object. `steps` are
  // indices of the first and last step whose events are wanted; nullopt: all.
  SnapshotObserver(const Ledger& first, const std::vector<OutOfMemory>& failures,
                   std::optional<std::pair<uint32_t, uint32_t>> steps, size_t max_events)
      : first_(first), failures_(failures), steps_(std::move(steps)), max_events_(max_events) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

  // Takes the snapshot of this device, as MomentWatch names it. Later events are ignored.
  void Take(DeviceIndex device);

  // Returns the snapshots by device, after the replay.
  std::map<DeviceIndex, DeviceSnapshot> Finish();

 private:
  struct Memory {
    uint64_t bytes = 0;
    SiteIndex site;
    bool segment = false;
    uint64_t event = 0;  // index of its allocation among the device's events
  };
  struct FrameworkBlock {
    uint64_t bytes = 0;
    SiteIndex site;
    bool lone = false;
  };
  struct State {
    bool taken = false;
    DeviceSnapshot snapshot;
    // By address: the driver's memory, reserved address ranges, and a framework's blocks.
    absl::btree_map<uint64_t, Memory> driver;
    absl::btree_map<uint64_t, uint64_t> reserved;
    absl::flat_hash_map<uint64_t, FrameworkBlock> blocks;
  };

  State& Of(DeviceIndex device);
  // Returns the driver memory that contains the address, keyed by its own address; null if there is none.
  static std::pair<const uint64_t, Memory>* MemoryAt(State* state, uint64_t address);
  // Returns whether the block is inside memory that the trace contains; that memory is then a segment.
  bool PlaceBlock(State* state, uint64_t address) const;
  void TakeOne(State* state);
  void Add(State* state, DeviceSnapshot::Action action, const LiveAllocation& allocation, StackIndex stack);
  bool IsWanted(const State& state) const;
  // Returns whether most of what this site allocates is segments. This is known from the start, from an earlier replay.
  // Memory of another site is a segment from its allocation on as soon as a block is inside it.
  bool IsSegment(SiteIndex site) const;
  // Returns the action for an allocation of driver memory, or for its free.
  DeviceSnapshot::Action ActionOf(const Memory& memory, bool born) const;

  const Ledger& first_;
  const std::vector<OutOfMemory>& failures_;
  size_t next_failure_ = 0;  // of failures_
  const Ledger* ledger_ = nullptr;
  std::optional<std::pair<uint32_t, uint32_t>> steps_;
  size_t max_events_;
  IndexedVector<DeviceIndex, std::unique_ptr<State>> states_;  // by device; null: no data
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_
