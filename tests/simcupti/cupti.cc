// SPDX-License-Identifier: Apache-2.0
//
// libcupti for the simulated device: the public calls that the tracer makes, with records of what the simulated driver
// does. Faults on demand, see faults.h. SIMCUPTI_VERSION is what it says of itself; with SIMCUPTI_SOURCE memory records
// name the library that asked, as from 12.5 on.
#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/simcupti/driver_table.h"
#include "tests/simcupti/faults.h"
#include "tests/simcupti/owner.h"

namespace vramtrack::simcupti {
namespace {

#ifdef SIMCUPTI_SOURCE
using MemoryRecord = CUpti_ActivityMemory4;
#else
using MemoryRecord = CUpti_ActivityMemory3;
#endif
#if SIMCUPTI_VERSION >= 130000
using PoolRecord = CUpti_ActivityMemoryPool3;
using KernelRecord = CUpti_ActivityKernel13;
using CopyRecord = CUpti_ActivityMemcpy7;
using FillRecord = CUpti_ActivityMemset5;
#else
using PoolRecord = CUpti_ActivityMemoryPool2;
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using FillRecord = CUpti_ActivityMemset4;
#endif

struct Allocation {
  simcuda::ActivityMemoryKind kind;
  uint64_t bytes;
  int device;
  uint64_t stream;
  const void* pool;
};

struct State {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  uint8_t* buffer = nullptr;
  size_t size = 0, used = 0;
  bool enabled[64] = {};
  bool source = false;
  size_t dropped = 0;
  uint64_t made = 0, flushes = 0, enables = 0;
  uint32_t correlation = 0;
  std::map<const void*, Allocation> live;
};

State& GetState() {
  static State& state = *new State;
  return state;
}

uint64_t Now() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// With the lock held, which the callbacks do not mind: they call nothing back.
void Deliver(State* state) {
  if (state->buffer == nullptr) return;
  uint8_t* buffer = state->buffer;
  state->buffer = nullptr;
  if (state->complete != nullptr) state->complete(nullptr, 0, buffer, state->size, state->used);
}

// Room for a record, with the lock held; null where it is dropped.
template <typename Record>
Record* NewRecord(State* state, CUpti_ActivityKind kind) {
  if (kind >= 64 || !state->enabled[kind]) return nullptr;
  const uint64_t every = Faults::Get().drop_every;
  if (every != 0 && ++state->made % every == 0) {
    ++state->dropped;
    return nullptr;
  }
  if (state->buffer != nullptr && state->size - state->used < sizeof(Record)) Deliver(state);
  if (state->buffer == nullptr) {
    size_t most = 0;
    state->used = state->size = 0;
    if (state->request != nullptr) state->request(&state->buffer, &state->size, &most);
  }
  if (state->buffer == nullptr || state->size < sizeof(Record)) {
    ++state->dropped;
    return nullptr;
  }
  auto* record = reinterpret_cast<Record*>(state->buffer + state->used);
  state->used += sizeof(Record);
  memset(static_cast<void*>(record), 0, sizeof(Record));
  record->kind = kind;
  return record;
}

void TellMemory(State* state, bool allocated, const void* address, const Allocation& allocation) {
  auto* record = NewRecord<MemoryRecord>(state, CUPTI_ACTIVITY_KIND_MEMORY2);
  if (record == nullptr) return;
  record->memoryOperationType =
      allocated ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record->memoryKind = static_cast<CUpti_ActivityMemoryKind>(allocation.kind);
  record->correlationId = ++state->correlation;
  record->address = reinterpret_cast<uint64_t>(address);
  record->bytes = allocation.bytes;
  record->timestamp = Now();
  record->processId = static_cast<uint32_t>(getpid());
  record->deviceId = static_cast<uint32_t>(allocation.device);
  record->contextId = 1;
  record->streamId = static_cast<uint32_t>(allocation.stream);
  record->isAsync = allocation.pool != nullptr;
  record->memoryPoolConfig.address = reinterpret_cast<uint64_t>(allocation.pool);
#ifdef SIMCUPTI_SOURCE
  if (state->source) record->source = OwnerOfCall();
#endif
}

void Allocated(const void* address, const Allocation& allocation) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.live[address] = allocation;
  TellMemory(&state, true, address, allocation);
}

void OnAllocated(simcuda::ActivityMemoryKind kind, const void* address, uint64_t bytes, int device) {
  Allocated(address, {kind, bytes, device, 0, nullptr});
}

void OnAllocatedOn(const void* address, uint64_t bytes, int device, uint64_t stream, const void* pool) {
  Allocated(address, {simcuda::ActivityMemoryKind::kDevice, bytes, device, stream, pool});
}

void OnReleased(const void* address) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  const auto found = state.live.find(address);
  if (found == state.live.end()) return;
  TellMemory(&state, false, address, found->second);
  state.live.erase(found);
}

void OnPool(uint32_t operation, const void* pool, int device, uint64_t bytes) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  auto* record = NewRecord<PoolRecord>(&state, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  if (record == nullptr) return;
  record->memoryPoolOperationType = static_cast<CUpti_ActivityMemoryPoolOperationType>(operation);
  record->correlationId = ++state.correlation;
  record->deviceId = static_cast<uint32_t>(device);
  record->address = reinterpret_cast<uint64_t>(pool);
  record->size = bytes;
  record->timestamp = Now();
}

// Kernels, copies and fills, which take no time on the simulated device.
template <typename Record>
Record* NewExecution(State* state, CUpti_ActivityKind kind, int device, uint64_t stream) {
  auto* record = NewRecord<Record>(state, kind);
  if (record == nullptr) return nullptr;
  record->start = Now();
  record->end = record->start + 1000;
  record->deviceId = static_cast<uint32_t>(device);
  record->contextId = 1;
  record->streamId = static_cast<uint32_t>(stream);
  record->correlationId = ++state->correlation;
  return record;
}

void OnKernel(const char* name, int device, uint64_t stream) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  auto* record = NewExecution<KernelRecord>(&state, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, device, stream);
  if (record != nullptr) record->name = name;
}

void OnCopied(uint64_t bytes, int device, uint64_t stream) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  auto* record = NewExecution<CopyRecord>(&state, CUPTI_ACTIVITY_KIND_MEMCPY, device, stream);
  if (record != nullptr) record->bytes = bytes;
}

void OnFilled(uint64_t bytes, int device, uint64_t stream) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  auto* record = NewExecution<FillRecord>(&state, CUPTI_ACTIVITY_KIND_MEMSET, device, stream);
  if (record != nullptr) record->bytes = bytes;
}

constexpr simcuda::ActivitySink kSink = {OnAllocated, OnAllocatedOn, OnReleased, OnPool, OnKernel, OnCopied, OnFilled};

size_t SizeOf(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(MemoryRecord);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return sizeof(PoolRecord);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(FillRecord);
    default:
      return 0;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = SIMCUPTI_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* ns) {
  *ns = Now();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  switch (result) {
    case CUPTI_ERROR_NOT_INITIALIZED:
      *text = "CUPTI_ERROR_NOT_INITIALIZED";
      return CUPTI_SUCCESS;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      return CUPTI_SUCCESS;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      return CUPTI_SUCCESS;
    case CUPTI_ERROR_UNKNOWN:
      *text = "CUPTI_ERROR_UNKNOWN";
      return CUPTI_SUCCESS;
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  if (Faults::Get().newer_than_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  if (Faults::Get().taken) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  // What the one before had not got yet goes to the last one, as with the real one.
  state.request = request;
  state.complete = complete;
  return SetActivitySink(&kSink) ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (Faults::Get().no_permission) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (++state.enables == Faults::Get().enable_fails) return CUPTI_ERROR_UNKNOWN;
  if (kind >= 64) return CUPTI_ERROR_INVALID_KIND;
  state.enabled[kind] = true;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (kind >= 64) return CUPTI_ERROR_INVALID_KIND;
  state.enabled[kind] = false;
  return CUPTI_SUCCESS;
}

#ifdef SIMCUPTI_SOURCE
CUptiResult CUPTIAPI cuptiActivityEnableAllocationSource(uint8_t enable) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.source = enable != 0;
  return CUPTI_SUCCESS;
}
#endif

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flags) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (++state.flushes == Faults::Get().flush_fails) return CUPTI_ERROR_UNKNOWN;
  if (Faults::Get().late && flags == 0) return CUPTI_SUCCESS;
  Deliver(&state);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  auto* at = reinterpret_cast<uint8_t*>(*record);
  at = at == nullptr ? buffer : at + SizeOf(*record);
  if (at >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  *dropped = state.dropped;
  state.dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize() {
  State& state = GetState();
  std::lock_guard<std::mutex> lock(state.mutex);
  SetActivitySink(nullptr);
  state.request = nullptr;
  state.complete = nullptr;
  state.buffer = nullptr;
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace vramtrack::simcupti
