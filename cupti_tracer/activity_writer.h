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

// Reads records from the buffers that CUPTI has filled, and writes them to the trace in frames. Not thread-safe.
class ActivityWriter {
 public:
  // Call this first. The arguments are not owned and must never be destroyed. Returns false if memory cannot be
  // allocated.
  bool Prepare(const VramtrackRecorder* recorder, const Library* library);

  // Reads the recorder's clock and CUPTI's clock at the same moment, to relate them. Returns kSuccess, or CUPTI's error
  // if its clock cannot be read.
  int ReadClocks();

  // Reads the records of a buffer, and writes a frame when the encoder is full. Returns kMaxLimitReached if it read all
  // records, otherwise the CUPTI error that stopped it. Also counts the records that CUPTI dropped for the buffer's
  // stream.
  int Read(const Buffer& buffer);
  // Counts the records that CUPTI dropped for a stream of a context, or with null and 0 those that belong to no
  // context.
  void CountDropped(void* context, uint32_t stream);
  // Notes that recording starts now, or that it stops now because of `why`.
  void AddSpan(bool recording, const char* why);
  // Writes what was read since the last frame, if anything. Returns the result of ReadClocks, or kSuccess if there was
  // nothing to write. If CUPTI's clock cannot be read its times are useless, and the records count as dropped.
  int WriteFrame();

 private:
  void AddDropped(uint64_t records);

  const VramtrackRecorder* recorder_ = nullptr;
  const Library* library_ = nullptr;
  ActivityEncoder* encoder_ = nullptr;
  ActivityTie tie_ = {};  // the last reading of both clocks
  uint64_t dropped_ = 0;
};

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_ACTIVITY_WRITER_H_
