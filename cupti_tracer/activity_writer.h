// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_ACTIVITY_WRITER_H_
#define CUPTI_TRACER_ACTIVITY_WRITER_H_

#include <stdint.h>

#include "cupti_tracer/buffer_pool.h"
#include "cupti_tracer/cupti_abi.h"
#include "cupti_tracer/cupti_library.h"
#include "proto/activity_encoder.h"
#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// Takes records out of the buffers that CUPTI has filled and writes them to the trace, in frames. For one thread.
class ActivityWriter {
 public:
  // Neither is owned, both are there for good. False: there is no memory for it.
  bool Prepare(const VramtrackRecorder* recorder, const Library* library);

  // Notes both clocks at this moment: success, or why CUPTI does not tell its own.
  int ReadClocks();

  // kMaxLimitReached: all of its records were read; or else why the rest is not. Counts what CUPTI dropped before it.
  int Read(const Buffer& buffer);
  // Of a context's stream, or with neither of what belongs to none.
  void CountDropped(void* context, uint32_t stream);
  // From now on there are records, or none because of `why`.
  void AddSpan(bool recording, const char* why);
  // What was read until now, if anything was. As ReadClocks: without its clock CUPTI's times say nothing, and the
  // records count as dropped.
  int WriteFrame();

 private:
  void AddDropped(uint64_t records);

  const VramtrackRecorder* recorder_ = nullptr;
  const Library* library_ = nullptr;
  ActivityEncoder* encoder_ = nullptr;
  ActivityTie tie_ = {};  // the last one
  uint64_t dropped_ = 0;
};

// What a record of CUPTI says; its texts go to `encoder`, which is not full. `has_source`: memory records have one.
// False for a kind that is not kept.
bool ReadRecord(const Activity& activity, bool has_source, ActivityEncoder* encoder, ActivityRecord* record);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_ACTIVITY_WRITER_H_
