// SPDX-License-Identifier: Apache-2.0

#include "tests/simcupti/records.h"

#include <cupti.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "tests/simcupti/record_types.h"
#include "tests/simcupti/state.h"

namespace vramtrack::simcupti {
namespace {

// The path of the library whose call led here, past those of CUDA and the tracer's. It stays.
const char* OwnerOfCall() {
  constexpr int kMostFrames = 24;
  constexpr const char* kPassedOver[] = {"libcuda.so", "libcudart.so", "libcupti.so", "libvramtrack"};
  void* frames[kMostFrames];
  const int count = backtrace(frames, kMostFrames);
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0) continue;
    const char* slash = strrchr(info.dli_fname, '/');
    const char* name = slash != nullptr ? slash + 1 : info.dli_fname;
    bool passed_over = false;
    for (const char* beginning : kPassedOver) passed_over |= strncmp(name, beginning, strlen(beginning)) == 0;
    if (!passed_over) return info.dli_fname;
  }
  return nullptr;
}

struct Allocation {
  simcuda::ActivityMemoryKind kind;
  uint64_t bytes;
  int device;
  uint64_t stream;
  const void* pool;
};

// By address, under the state's lock.
std::map<const void*, Allocation>& Live() {
  static auto& live = *new std::map<const void*, Allocation>;
  return live;
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
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  Live()[address] = allocation;
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
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  const auto found = Live().find(address);
  if (found == Live().end()) return;
  TellMemory(&state, false, address, found->second);
  Live().erase(found);
}

void OnPool(uint32_t operation, const void* pool, int device, uint64_t bytes) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
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
  {
    State& state = GetState();
    std::lock_guard<std::recursive_mutex> lock(state.mutex);
    auto* record = NewExecution<KernelRecord>(&state, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, device, stream);
    if (record != nullptr) record->name = name;
  }
  CallBackForLaunch();
}

void OnCopied(uint64_t bytes, int device, uint64_t stream) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  auto* record = NewExecution<CopyRecord>(&state, CUPTI_ACTIVITY_KIND_MEMCPY, device, stream);
  if (record != nullptr) record->bytes = bytes;
}

void OnFilled(uint64_t bytes, int device, uint64_t stream) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  auto* record = NewExecution<FillRecord>(&state, CUPTI_ACTIVITY_KIND_MEMSET, device, stream);
  if (record != nullptr) record->bytes = bytes;
}

}  // namespace

const simcuda::ActivitySink kRecordSink = {OnAllocated, OnAllocatedOn, OnReleased, OnPool,
                                           OnKernel,    OnCopied,      OnFilled};

}  // namespace vramtrack::simcupti
