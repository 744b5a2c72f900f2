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

void ReadCall(const ApiCall& from, uint32_t kind, ActivityRecord* record) {
  record->kind = kind;
  record->operation = from.function;
  record->stream = from.thread;
  record->correlation = from.correlation;
  SetTimes(from.start, from.end, record);
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
    case kGraphTrace: {
      const auto& from = As<GraphTrace>(activity);
      ReadExecution(from, schema::ACTIVITY_GRAPH, record);
      record->operation = from.graph;
      return true;
    }
    case kSynchronization: {
      const auto& from = As<Synchronization>(activity);
      record->kind = schema::ACTIVITY_SYNCHRONIZATION;
      record->operation = from.type;
      record->stream = from.stream == kNoStream ? 0 : from.stream;
      record->correlation = from.correlation;
      SetTimes(from.start, from.end, record);
      return true;
    }
    case kRuntime:
    case kDriver:
      ReadCall(As<ApiCall>(activity),
               activity.kind == kRuntime ? schema::ACTIVITY_RUNTIME_CALL : schema::ACTIVITY_DRIVER_CALL, record);
      return true;
    case kUnifiedMemoryCounter: {
      const auto& from = As<UnifiedMemoryCounter>(activity);
      record->kind = schema::ACTIVITY_UNIFIED_MEMORY;
      record->operation = from.counter;
      record->device = from.destination;
      record->address = from.address;
      record->bytes = from.value;
      SetTimes(from.start, from.end, record);
      return true;
    }
    case kMarker: {
      const auto& from = As<Marker>(activity);
      record->kind = schema::ACTIVITY_MARKER;
      record->operation = from.flags;
      record->correlation = from.id;
      record->text = encoder->TextId(from.name);
      record->start_ns = from.timestamp;
      return true;
    }
    case kExternalCorrelation: {
      const auto& from = As<ExternalCorrelation>(activity);
      record->kind = schema::ACTIVITY_EXTERNAL;
      record->operation = from.external_kind;
      record->correlation = from.correlation;
      record->bytes = from.external;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace vramtrack::cupti
