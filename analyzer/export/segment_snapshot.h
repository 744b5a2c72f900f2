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

// What a device's memory is made of at one moment, and what happened before: as PyTorch's memory snapshots have it.
struct DeviceSnapshot {
  struct Block {
    uint64_t address = 0, bytes = 0;
    SiteIndex site;
  };
  struct Segment {
    uint64_t address = 0, bytes = 0;
    bool small = false, expandable = false;
    bool of_framework = false;  // otherwise memory of the driver that holds no blocks; it is one block itself
    SiteIndex site;             // whose stack asked the driver for it
    std::vector<Block> blocks;  // live, by address
  };
  // The driver's memory is a segment, a piece of an expandable one, or what others than a framework's allocator asked
  // for. A lone block is one whose segment the trace does not know.
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
    uint64_t address = 0, bytes = 0;  // kOom: the index of the ledger's failure, and what was asked for
    StackIndex stack = kEmptyStack;
    uint64_t ticks = 0;
  };
  std::vector<Segment> segments;  // by address
  std::deque<Event> events;       // the last ones
  uint64_t events_left_out = 0;   // before these
};

// Collects them during a second replay. Memory is bounded by what is live and by `max_events` for each device.
// Thread-compatible.
class SnapshotObserver final : public ReplayObserver {
 public:
  // `first`: after its replay, with its failures; both must outlive this. `steps`: indices of the first and last step
  // whose events are wanted; none: all.
  SnapshotObserver(const Ledger& first, const std::vector<OutOfMemory>& failures,
                   std::optional<std::pair<uint32_t, uint32_t>> steps, size_t max_events)
      : first_(first), failures_(failures), steps_(std::move(steps)), max_events_(max_events) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

  // The moment has come for this device, as MomentWatch calls it: later events are not wanted.
  void Take(DeviceIndex device);

  // By device, after the replay.
  std::map<DeviceIndex, DeviceSnapshot> Finish();

 private:
  struct Memory {
    uint64_t bytes = 0;
    SiteIndex site;
    bool segment = false;
    uint64_t event = 0;  // which of the device's events its allocation is
  };
  struct FrameworkBlock {
    uint64_t bytes = 0;
    SiteIndex site;
    bool lone = false;
  };
  struct State {
    bool taken = false;
    DeviceSnapshot snapshot;
    // By address: what the driver gave out, reserved addresses, a framework's blocks.
    absl::btree_map<uint64_t, Memory> driver;
    absl::btree_map<uint64_t, uint64_t> reserved;
    absl::flat_hash_map<uint64_t, FrameworkBlock> blocks;
  };

  State& Of(DeviceIndex device);
  // The driver's memory around the address, by its own; null for none.
  static std::pair<const uint64_t, Memory>* MemoryAt(State* state, uint64_t address);
  // Whether the block lies in memory that the trace knows: that is a segment then.
  bool PlaceBlock(State* state, uint64_t address) const;
  void TakeOne(State* state);
  void Add(State* state, DeviceSnapshot::Action action, const LiveAllocation& allocation, StackIndex stack);
  bool IsWanted(const State& state) const;
  // Whether what this site allocates is segments, most of it: known from the beginning, as an earlier replay has seen
  // it. Memory of another site is a segment from its beginning as soon as a block lies in it.
  bool IsSegment(SiteIndex site) const;
  // What an allocation of the driver's memory is, or its free.
  DeviceSnapshot::Action ActionOf(const Memory& memory, bool born) const;

  const Ledger& first_;
  const std::vector<OutOfMemory>& failures_;
  size_t next_failure_ = 0;  // of failures_
  const Ledger* ledger_ = nullptr;
  std::optional<std::pair<uint32_t, uint32_t>> steps_;
  size_t max_events_;
  IndexedVector<DeviceIndex, std::unique_ptr<State>> states_;  // by device; null: nothing is known of it
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_
