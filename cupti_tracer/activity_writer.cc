// SPDX-License-Identifier: Apache-2.0

#include "cupti_tracer/activity_writer.h"

#include <sys/mman.h>

namespace vramtrack::cupti {
namespace {

template <typename Record>
const Record& As(const Activity& activity) {
  return reinterpret_cast<const Record&>(activity);
}

// Records of what did not complete have no times.
void SetTimes(uint64_t start, uint64_t end, ActivityRecord* record) {
  record->start_ns = start;
  record->duration_ns = end > start ? end - start : 0;
}

template <typename Record>
void ReadExecution(const Record& from, uint32_t kind, ActivityRecord* record) {
  record->kind = kind;
  record->device = from.device;
  record->stream = from.stream;
  record->correlation = from.correlation;
  SetTimes(from.start, from.end, record);
}

void ReadMemory(const Memory& from, bool has_source, ActivityEncoder* encoder, ActivityRecord* record) {
  record->kind = schema::ACTIVITY_MEMORY;
  record->operation = from.operation;
  record->memory = from.memory_kind;
  record->device = from.device;
  record->stream = from.is_async != 0 ? from.stream : 0;
  record->correlation = from.correlation;
  record->start_ns = from.timestamp;
  record->address = from.address;
  record->bytes = from.bytes;
  record->pool = from.is_async != 0 ? from.pool_address : 0;
  if (has_source) record->text = encoder->TextId(from.source);
}

// Converts a CUPTI record to `record` and adds its texts to `encoder`, which must not be full. `has_source` means that
// memory records have a source (CUpti_ActivityMemory4). Returns false for a kind of record that is not kept.
bool ReadRecord(const Activity& activity, bool has_source, ActivityEncoder* encoder, ActivityRecord* record) {
  *record = {};
  switch (activity.kind) {
    case kMemory2:
      ReadMemory(As<Memory>(activity), has_source, encoder, record);
      return true;
    case kMemoryPool: {
      const auto& from = As<MemoryPool>(activity);
      record->kind = schema::ACTIVITY_MEMORY_POOL;
      record->operation = from.operation;
      record->device = from.device;
      record->correlation = from.correlation;
      record->start_ns = from.timestamp;
      record->address = from.address;
      record->bytes = from.size;
      return true;
    }
    case kKernel:
    case kConcurrentKernel: {
      const auto& from = As<KernelExecution>(activity);
      ReadExecution(from, schema::ACTIVITY_KERNEL, record);
      record->text = encoder->TextId(from.name);
      return true;
    }
    case kMemcpy: {
      const auto& from = As<Memcpy>(activity);
      ReadExecution(from, schema::ACTIVITY_MEMCPY, record);
      record->operation = from.copy_kind;
      record->bytes = from.bytes;
      return true;
    }
    case kMemcpyPeer: {
      const auto& from = As<MemcpyPeer>(activity);
      ReadExecution(from, schema::ACTIVITY_MEMCPY, record);
      record->operation = from.copy_kind;
      record->bytes = from.bytes;
      return true;
    }
    case kMemset: {
      const auto& from = As<Memset>(activity);
      ReadExecution(from, schema::ACTIVITY_MEMSET, record);
      record->memory = from.memory_kind;
      record->bytes = from.bytes;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

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
