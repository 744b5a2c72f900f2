// SPDX-License-Identifier: Apache-2.0
//
// Finds the frames of a trace, whole, cut, damaged or foreign, and says what was lost. See proto/frame.h for the
// layout.
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
  std::string_view payload;  // behind the checksum; of a Journal: its words
};

struct Damage {
  uint64_t offset;
  uint64_t bytes;  // that could not be used
  std::string reason;
};

struct TraceLayout {
  uint64_t counters[kHeaderCounters] = {};  // schema::Counter
  std::vector<FrameRef> blocks;             // in the order of the file, checksums verified
  std::vector<FrameRef> journals;
  std::vector<FrameRef> indexes;
  std::vector<FrameRef> checkpoint_parts;
  std::vector<FrameRef> activities;
  bool finished = false;  // has its Trailer
  uint64_t end_ticks = 0;
  std::vector<Damage> damage;
};

// Reads the whole of `file`, which must stay in memory as long as the layout. Returns an empty string, or in one line
// why this is no trace that can be read at all (empty, foreign, newer); damage behind the header page is no such
// reason. `passed` (may be null) is given every few MiB what has been read, so that its pages need not stay in memory.
std::string ScanTrace(std::string_view file, TraceLayout* layout,
                      const std::function<void(std::string_view)>& passed = nullptr);

// The journals alone, found without a look at what is in the other frames: for a file that is being written.
std::vector<FrameRef> FindJournals(std::string_view file,
                                   const std::function<void(std::string_view)>& passed = nullptr);

}  // namespace vramtrack

#endif  // PROTO_FRAME_SCANNER_H_
