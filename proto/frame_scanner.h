// SPDX-License-Identifier: Apache-2.0
//
// Finds the frames of a trace, which may be cut, damaged or not a trace at all, and reports what was lost.
// proto/frame.h has the layout.
#ifndef PROTO_FRAME_SCANNER_H_
#define PROTO_FRAME_SCANNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/frame.h"

namespace vramtrack {

struct FrameRef {
  uint64_t offset;           // of the frame in the file
  std::string_view payload;  // after the checksum; of a Journal: its words
};

struct Damage {
  uint64_t offset;
  uint64_t bytes;  // that were skipped
  std::string reason;
};

struct TraceLayout {
  uint64_t counters[kHeaderCounters] = {};  // schema::Counter
  std::vector<FrameRef> blocks;             // in file order, checksums verified
  std::vector<FrameRef> journals;
  std::vector<FrameRef> checkpoint_parts;
  std::vector<FrameRef> activities;
  std::vector<FrameRef> holder_walks;
  bool finished = false;  // has a Trailer
  uint64_t end_ticks = 0;
  std::vector<Damage> damage;
};

// Reads all of `file`, which must outlive the layout. Returns an empty string, or one line that says why the trace
// cannot be read at all (empty, not a trace, newer); damage after the header page is recorded in the layout instead.
// `passed` (may be null) gets every few MiB what has been read, so that its pages need not stay in memory.
std::string ScanTrace(std::string_view file, TraceLayout* layout,
                      const std::function<void(std::string_view)>& passed = nullptr);

// Finds only the journals, without looking into other frames: for a file that is being written.
std::vector<FrameRef> FindJournals(std::string_view file,
                                   const std::function<void(std::string_view)>& passed = nullptr);

}  // namespace vramtrack

#endif  // PROTO_FRAME_SCANNER_H_
