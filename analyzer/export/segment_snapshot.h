// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_
#define ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/export/exported_process.h"

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

// Replays the trace and returns the snapshots by device, each at the exported moment. Memory is bounded by live memory
// and by ExportOptions::max_events for each device.
std::map<DeviceIndex, DeviceSnapshot> TakeSnapshots(const ExportedProcess& process);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SEGMENT_SNAPSHOT_H_
