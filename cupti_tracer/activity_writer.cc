// SPDX-License-Identifier: Apache-2.0

#include "cupti_tracer/activity_writer.h"

#include <sys/mman.h>

namespace vramtrack::cupti {

bool ActivityWriter::Prepare(const VramtrackRecorder* recorder, const Library* library) {
  void* memory = mmap(nullptr, sizeof(ActivityEncoder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  recorder_ = recorder;
  library_ = library;
  encoder_ = static_cast<ActivityEncoder*>(memory);
  return true;
}

int ActivityWriter::ReadClocks() {
  int result = kSuccess;
  uint64_t best_ticks = UINT64_MAX;
  // The reading that was interrupted least.
  for (int i = 0; i < 3; ++i) {
    uint64_t ns = 0;
    const uint64_t before = recorder_->ticks();
    const int each = library_->cuptiGetTimestamp(&ns);
    const uint64_t after = recorder_->ticks();
    if (each != kSuccess) result = each;
    if (each != kSuccess || after - before >= best_ticks) continue;
    best_ticks = after - before;
    tie_ = {ns, before + best_ticks / 2};
  }
  return best_ticks != UINT64_MAX ? kSuccess : result;
}

int ActivityWriter::Read(const Buffer& buffer) {
  Activity* activity = nullptr;
  int result;
  for (;;) {
    // CUPTI wants to write to it, as its declaration says.
    result = library_->cuptiActivityGetNextRecord(const_cast<uint8_t*>(buffer.data), buffer.valid_bytes, &activity);
    if (result != kSuccess) break;
    ActivityRecord record;
    if (encoder_->full()) WriteFrame();
    if (ReadRecord(*activity, library_->has_source(), encoder_, &record)) encoder_->Add(record);
  }
  CountDropped(buffer.context, buffer.stream);
  return result;
}

void ActivityWriter::CountDropped(void* context, uint32_t stream) {
  size_t dropped = 0;
  if (library_->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) != kSuccess || dropped == 0) return;
  AddDropped(dropped);
}

void ActivityWriter::AddDropped(uint64_t records) {
  dropped_ += records;
  recorder_->set_dropped(dropped_);
}

void ActivityWriter::AddSpan(bool recording, const char* why) { encoder_->AddSpan(recording, recorder_->ticks(), why); }

int ActivityWriter::WriteFrame() {
  if (encoder_->empty()) return kSuccess;
  const uint64_t records = encoder_->records();
  const bool may_go = recorder_->frames_may_go() != 0;
  const int result = ReadClocks();
  const bool has_times = result == kSuccess || records == 0;
  size_t bytes;
  uint8_t* frame = encoder_->Finish(library_->version, tie_, may_go, &bytes);
  const bool written = has_times && bytes != 0 && recorder_->append_activities(frame, bytes, records) != 0;
  if (!has_times) AddDropped(records);
  if (!written || may_go) encoder_->ForgetTexts();
  return result;
}

}  // namespace vramtrack::cupti
