// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/driver/activity.h"

#include <cuda.h>

#include <cstring>

#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {

std::atomic<const ActivitySink*> activity_sink;

namespace {

bool SetSink(const ActivitySink* sink) {
  const ActivitySink* present = nullptr;
  if (sink != nullptr) return activity_sink.compare_exchange_strong(present, sink) || present == sink;
  activity_sink.store(nullptr, std::memory_order_release);
  return true;
}

int AllocatePrivately(void** address, size_t bytes) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  char* memory = context->device->memory.Allocate(bytes);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = memory;
  SIMCUDA_TELL(allocated, ActivityMemoryKind::kDevice, memory, bytes, context->device->ordinal);
  return CUDA_SUCCESS;
}

int ReleasePrivately(void* address) {
  Device* device = DeviceOf(address);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TELL(released, address);
  return device->memory.Free(address) == DeviceMemory::FreeResult::kFreed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

constexpr PrivateTable kTable = {sizeof(PrivateTable), SetSink, AllocatePrivately, ReleasePrivately};

}  // namespace

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (memcmp(id, kPrivateTableId, sizeof kPrivateTableId) != 0) return CUDA_ERROR_INVALID_VALUE;
  *table = &kTable;
  return CUDA_SUCCESS;
}

}  // namespace vramtrack::simcuda
