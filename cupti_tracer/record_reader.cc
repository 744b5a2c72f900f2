// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/activity_writer.h"

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

}  // namespace

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

}  // namespace vramtrack::cupti
