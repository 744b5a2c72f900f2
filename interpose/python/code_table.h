// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_PYTHON_CODE_TABLE_H_
#define INTERPOSE_PYTHON_CODE_TABLE_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/python/frame_walk.h"
#include "interpose/recorder/lane.h"

namespace vramtrack {

// Numbers code objects. Thread-safe. Zero-initialised memory is an empty table.
class CodeTable {
 public:
  // The number of the frame's code object, at least 1; 0 where it could not be recorded. What is new is defined in
  // `lane` first: its names, file and table of lines are copied once. Two threads that meet it at the same moment may
  // define it twice, with different numbers. The frame is the calling thread's.
  uint32_t NumberOf(const PythonFrame& frame, const FrameOffsets& offsets, Lane* lane);

 private:
  bool Define(uint32_t id, uint64_t code, const FrameOffsets& offsets, Lane* lane);

  ConcurrentTable ids_;  // by address and fingerprint
  std::atomic<uint32_t> next_id_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_CODE_TABLE_H_
