// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation. A free takes effect when it is submitted: nothing on a stream is ever still running.
#include <cuda.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>

#include "tests/simcuda/device/clock.h"
#include "tests/simcuda/device/host_memory.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/memory_pool.h"
#include "tests/simcuda/device/virtual_memory.h"
#include "tests/simcuda/driver/activity.h"
#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph_memory.h"
#include "tests/simcuda/driver/pool_handles.h"

namespace vramtrack::simcuda {
namespace {

MemoryPool* FromHandle(CUmemoryPool handle) { return PoolFromHandle(handle); }
CUmemoryPool ToHandle(MemoryPool* pool) { return reinterpret_cast<CUmemoryPool>(pool); }

// Pools of host and of managed memory that exist from the start, and the ones that a program has put in their place.
struct HostPools {
  using Place = std::tuple<int, int, int>;  // of allocation, of location, which one
  std::mutex mutex;
  std::map<Place, MemoryPool*> first, current;
};

HostPools& GetHostPools() {
  static HostPools& pools = *new HostPools;
  return pools;
}

constexpr int kManaged = 2;  // CU_MEM_ALLOCATION_TYPE_MANAGED, of 13.0

MemoryPool* CreateHostPool(int type) {
  MemoryPool* pool =
      Handles<MemoryPool>::Create(type == kManaged ? HostMemory::Kind::kManaged : HostMemory::Kind::kPinned);
  GetDevice(0).AddPool(pool);
  return pool;
}

bool IsOnHost(const CUmemLocation& location, CUmemAllocationType type) {
  return static_cast<int>(type) == kManaged || location.type == CU_MEM_LOCATION_TYPE_HOST ||
         location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

HostPools::Place PlaceOf(const CUmemLocation& location, CUmemAllocationType type) {
  const bool counts = location.type == CU_MEM_LOCATION_TYPE_DEVICE || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return {static_cast<int>(type), static_cast<int>(location.type), counts ? location.id : 0};
}

MemoryPool* DefaultHostPool(const CUmemLocation& location, CUmemAllocationType type) {
  HostPools& pools = GetHostPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  MemoryPool*& pool = pools.first[PlaceOf(location, type)];
  if (pool == nullptr) pool = CreateHostPool(static_cast<int>(type));
  return pool;
}

bool IsDefault(MemoryPool* pool) {
  if (!pool->on_host()) return pool == GetDevice(pool->device()).default_pool();
  HostPools& pools = GetHostPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  return std::any_of(pools.first.begin(), pools.first.end(),
                     [pool](const auto& entry) { return entry.second == pool; });
}

CUresult Allocate(MemoryPool* pool, size_t bytes, uint64_t stream, CUdeviceptr* pointer) {
  if (GetOptions().allocation_delay_ns != 0) SpinNs(GetOptions().allocation_delay_ns);
  Count(Counter::kAllocation);
  char* address = pool->Allocate(bytes);
  if (address == nullptr) {
    Count(Counter::kOutOfMemory);
    SIMCUDA_LOG_CALL("device %d: pool allocation of %zu bytes: out of memory", pool->device(), bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  SIMCUDA_LOG_CALL("device %d: pool allocated %zu bytes at %p", pool->device(), bytes, static_cast<void*>(address));
  *pointer = ToPointer(address);
  SIMCUDA_TELL(allocated_on, address, bytes, pool->on_host() ? 0 : pool->device(), stream, pool);
  return CUDA_SUCCESS;
}

CUresult CaptureAllocation(Stream* stream, int device, size_t bytes, CUdeviceptr* pointer) {
  std::shared_ptr<GraphAllocation> allocation = MakeGraphAllocation(device, bytes);
  if (allocation == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  GraphNode* node;
  GraphAllocation* raw = allocation.get();
  SIMCUDA_TRY(CaptureNode(
      stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, [raw] { return StartGraphAllocation(raw); }, &node));
  node->allocation = std::move(allocation);
  *pointer = ToPointer(raw->address);
  return CUDA_SUCCESS;
}

CUresult CaptureFree(Stream* stream, void* address) {
  std::shared_ptr<GraphAllocation> allocation = FindGraphAllocation(address);
  if (allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  GraphAllocation* raw = allocation.get();
  SIMCUDA_TRY(CaptureNode(
      stream, CU_GRAPH_NODE_TYPE_MEM_FREE, [raw] { return EndGraphAllocation(raw); }, &node));
  node->allocation = std::move(allocation);
  return CUDA_SUCCESS;
}

CUresult AllocateOn(CUdeviceptr* pointer, size_t bytes, MemoryPool* pool, CUstream handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (pool == nullptr) pool = stream->context->device->current_pool();
  if (stream->IsCapturing() && pool->on_host()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->IsCapturing()) return CaptureAllocation(stream, pool->device(), bytes, pointer);
  return Allocate(pool, bytes, stream->id, pointer);
}

CUresult LocationDevice(const CUmemLocation* location, int* device) {
  if (location == nullptr || location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  SIMCUDA_TRY(CheckDevice(location->id));
  *device = location->id;
  return CUDA_SUCCESS;
}

void ForgetHostPool(MemoryPool* pool) {
  HostPools& pools = GetHostPools();
  std::lock_guard<std::mutex> lock(pools.mutex);
  for (auto entry = pools.current.begin(); entry != pools.current.end();) {
    entry = entry->second == pool ? pools.current.erase(entry) : std::next(entry);
  }
}

// With the last of its allocations goes a pool that its creator has destroyed.
void EndIfUnused(MemoryPool* pool) {
  if (!pool->destroyed || pool->usage().used != 0) return;
  GetDevice(pool->device()).RemovePool(pool);
  Handles<MemoryPool>::Destroy(pool);
}

}  // namespace

CUresult FreeToHostPool(MemoryPool* pool, void* address) {
  if (!pool->Free(address)) return CUDA_ERROR_INVALID_VALUE;
  EndIfUnused(pool);
  return CUDA_SUCCESS;
}

MemoryPool* PoolFromHandle(CUmemoryPool handle) {
  if (handle == nullptr) return nullptr;
  for (int ordinal = 0; ordinal < DeviceCount(); ++ordinal) {
    if (handle == ToHandle(GetDevice(ordinal).default_pool())) return GetDevice(ordinal).default_pool();
  }
  MemoryPool* pool = Handles<MemoryPool>::Get(handle);
  return pool != nullptr && !pool->destroyed ? pool : nullptr;
}

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  return AllocateOn(pointer, bytes, nullptr, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool handle, CUstream stream) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr || pool->imported) return CUDA_ERROR_INVALID_VALUE;
  return AllocateOn(pointer, bytes, pool, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  void* address = ToAddress(pointer);
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (stream->IsCapturing()) return CaptureFree(stream, address);
  Count(Counter::kFree);
  SIMCUDA_LOG_CALL("free of %p on a stream", address);
  SIMCUDA_TELL(released, address);
  if (Device* device = DeviceOf(address)) {
    DeviceMemory::Range range;
    if (!device->memory.Find(address, &range)) return CUDA_ERROR_INVALID_VALUE;
    if (range.use != PageUse::kPool) {
      return device->memory.Free(address) == DeviceMemory::FreeResult::kFreed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    MemoryPool* pool = static_cast<MemoryPool*>(range.owner);
    if (!pool->Free(address)) return CUDA_ERROR_INVALID_VALUE;
    EndIfUnused(pool);
    return CUDA_SUCCESS;
  }
  HostMemory::Range host;
  if (HostMemory::Get().Find(address, &host) && host.pool != nullptr) {
    if (host.base != address) return CUDA_ERROR_INVALID_VALUE;
    return FreeToHostPool(host.pool, address);
  }
  if (VirtualMemory::Get().CloseWindow(address) == VirtualMemory::Result::kOk) return CUDA_SUCCESS;
  return FreeGraphMemory(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (IsOnHost(properties->location, properties->allocType)) {
    *handle = ToHandle(CreateHostPool(static_cast<int>(properties->allocType)));
    return CUDA_SUCCESS;
  }
  if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_NOT_SUPPORTED;
  int ordinal;
  SIMCUDA_TRY(LocationDevice(&properties->location, &ordinal));
  Device& device = GetDevice(ordinal);
  MemoryPool* pool = Handles<MemoryPool>::Create(ordinal, &device.memory, properties->maxSize);
  device.AddPool(pool);
  *handle = ToHandle(pool);
  SIMCUDA_TELL(pool, 1, pool, ordinal, 0);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr || IsDefault(pool)) return CUDA_ERROR_INVALID_VALUE;
  ForgetHostPool(pool);
  SIMCUDA_TELL(pool, 2, pool, pool->device(), pool->usage().reserved);
  Device& device = GetDevice(pool->device());
  if (device.current_pool() == pool) device.set_current_pool(device.default_pool());
  if (pool->usage().used != 0) {
    // What the program still holds stays valid; the pool goes away with the last of it.
    pool->destroyed = true;
    return CUDA_SUCCESS;
  }
  device.RemovePool(pool);
  Handles<MemoryPool>::Destroy(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  pool->TrimTo(keep_bytes);
  SIMCUDA_TELL(pool, 3, pool, pool->device(), pool->usage().reserved);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const MemoryPool::Usage usage = pool->usage();
  cuuint64_t* bytes = static_cast<cuuint64_t*>(value);
  int* flag = static_cast<int*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      *flag = pool->reuse_follow_event;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      *flag = pool->reuse_opportunistic;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *flag = pool->reuse_internal;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *bytes = usage.threshold;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *bytes = usage.reserved;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *bytes = usage.reserved_high;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *bytes = usage.used;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *bytes = usage.used_high;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cuuint64_t* bytes = static_cast<const cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      pool->reuse_follow_event = *static_cast<int*>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      pool->reuse_opportunistic = *static_cast<int*>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      pool->reuse_internal = *static_cast<int*>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool->set_threshold(*bytes);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      if (*bytes != 0) return CUDA_ERROR_INVALID_VALUE;
      pool->ResetReservedHigh();
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (*bytes != 0) return CUDA_ERROR_INVALID_VALUE;
      pool->ResetUsedHigh();
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptors, size_t count) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr || (descriptors == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t index = 0; index < count; ++index) {
    int device;
    SIMCUDA_TRY(LocationDevice(&descriptors[index].location, &device));
    pool->SetAccess(device, descriptors[index].flags);
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* handle, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = ToHandle(GetDevice(ordinal).default_pool());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* handle, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = ToHandle(GetDevice(ordinal).current_pool());
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  MemoryPool* pool = FromHandle(handle);
  if (pool == nullptr || pool->device() != ordinal) return CUDA_ERROR_INVALID_VALUE;
  GetDevice(ordinal).set_current_pool(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* handle, CUmemLocation* location, CUmemAllocationType type) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (IsOnHost(*location, type)) {
    *handle = ToHandle(DefaultHostPool(*location, type));
    return CUDA_SUCCESS;
  }
  int device;
  SIMCUDA_TRY(LocationDevice(location, &device));
  return cuDeviceGetDefaultMemPool(handle, device);
}

CUresult cuMemGetMemPool(CUmemoryPool* handle, CUmemLocation* location, CUmemAllocationType type) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (IsOnHost(*location, type)) {
    MemoryPool* pool = DefaultHostPool(*location, type);
    std::lock_guard<std::mutex> lock(GetHostPools().mutex);
    const auto current = GetHostPools().current.find(PlaceOf(*location, type));
    *handle = ToHandle(current != GetHostPools().current.end() ? current->second : pool);
    return CUDA_SUCCESS;
  }
  int device;
  SIMCUDA_TRY(LocationDevice(location, &device));
  return cuDeviceGetMemPool(handle, device);
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
  SIMCUDA_TRY(CheckInitialized());
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (IsOnHost(*location, type)) {
    MemoryPool* pool = FromHandle(handle);
    if (pool == nullptr || !pool->on_host()) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(GetHostPools().mutex);
    GetHostPools().current[PlaceOf(*location, type)] = pool;
    return CUDA_SUCCESS;
  }
  int device;
  SIMCUDA_TRY(LocationDevice(location, &device));
  return cuDeviceSetMemPool(device, handle);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
