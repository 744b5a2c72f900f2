// SPDX-License-Identifier: Apache-2.0
// Linear device memory, pinned, registered and managed host memory, and what an address is.
#include <cuda.h>

#include <algorithm>

#include "tests/simcuda/device/clock.h"
#include "tests/simcuda/device/host_memory.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/options.h"
#include "tests/simcuda/device/virtual_memory.h"
#include "tests/simcuda/driver/activity.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph_memory.h"
#include "tests/simcuda/driver/pool_handles.h"

namespace vramtrack::simcuda {
namespace {

constexpr size_t kPitchAlignment = 512;

CUresult Allocate(Device* device, size_t bytes, CUdeviceptr* pointer) {
  if (GetOptions().allocation_delay_ns != 0) SpinNs(GetOptions().allocation_delay_ns);
  Count(Counter::kAllocation);
  char* address = device->memory.Allocate(bytes);
  if (address == nullptr) {
    // Memory that a pool keeps for later is given back before an allocation fails.
    device->default_pool()->TrimTo(0);
    if (device->current_pool() != device->default_pool()) device->current_pool()->TrimTo(0);
    address = device->memory.Allocate(bytes);
  }
  if (address == nullptr) {
    Count(Counter::kOutOfMemory);
    SIMCUDA_LOG_CALL("device %d: allocation of %zu bytes: out of memory, %zu of %zu used", device->ordinal, bytes,
                     device->memory.used_bytes(), device->memory.total_bytes());
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  SIMCUDA_LOG_CALL("device %d: allocated %zu bytes at %p", device->ordinal, bytes, static_cast<void*>(address));
  *pointer = ToPointer(address);
  SIMCUDA_TELL(allocated, ActivityMemoryKind::kDevice, address, bytes, device->ordinal);
  return CUDA_SUCCESS;
}

CUresult AllocateHost(void** address, size_t bytes, HostMemory::Kind kind, unsigned flags) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = HostMemory::Get().Allocate(bytes, kind, flags, context->device->ordinal);
  SIMCUDA_LOG_CALL("host: allocated %zu bytes at %p", bytes, *address);
  if (*address == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  SIMCUDA_TELL(allocated,
               kind == HostMemory::Kind::kManaged ? ActivityMemoryKind::kManaged : ActivityMemoryKind::kPinned,
               *address, bytes, context->device->ordinal);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  const DeviceMemory& memory = context->device->memory;
  if (total != nullptr) *total = memory.total_bytes();
  if (free != nullptr) *free = memory.total_bytes() - memory.used_bytes();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TRY(CheckUnsafeCall());
  return Allocate(context->device, bytes, pointer);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned element_bytes) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (pointer == nullptr || pitch == nullptr || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TRY(CheckUnsafeCall());
  if (width > SIZE_MAX - kPitchAlignment) return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t row = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  size_t bytes;
  if (__builtin_mul_overflow(row, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  SIMCUDA_TRY(Allocate(context->device, bytes, pointer));
  *pitch = row;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  if (pointer == 0) return CUDA_SUCCESS;
  SIMCUDA_TRY(CheckUnsafeCall());
  void* address = ToAddress(pointer);
  Count(Counter::kFree);
  SIMCUDA_LOG_CALL("free of %p", address);
  SIMCUDA_TELL(released, address);
  if (Device* device = DeviceOf(address)) {
    if (device->memory.Free(address) == DeviceMemory::FreeResult::kFreed) return CUDA_SUCCESS;
    DeviceMemory::Range range;
    if (!device->memory.Find(address, &range) || range.use != PageUse::kPool) return CUDA_ERROR_INVALID_VALUE;
    MemoryPool* pool = static_cast<MemoryPool*>(range.owner);
    if (!pool->Free(address)) return CUDA_ERROR_INVALID_VALUE;
    pool->Synchronized();
    return CUDA_SUCCESS;
  }
  HostMemory::Range host;
  if (HostMemory::Get().Find(address, &host) && host.pool != nullptr) {
    return host.base == address ? FreeToHostPool(host.pool, address) : CUDA_ERROR_INVALID_VALUE;
  }
  if (HostMemory::Get().Free(address, HostMemory::Kind::kManaged)) return CUDA_SUCCESS;
  if (VirtualMemory::Get().CloseWindow(address) == VirtualMemory::Result::kOk) return CUDA_SUCCESS;
  return FreeGraphMemory(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  const PointerInfo info = Describe(ToAddress(pointer));
  if (info.kind == PointerInfo::Kind::kUnknown) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = ToPointer(info.base);
  if (bytes != nullptr) *bytes = info.bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** address, size_t bytes) {
  return AllocateHost(address, bytes, HostMemory::Kind::kPinned, 0);
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return AllocateHost(address, bytes, HostMemory::Kind::kPinned, flags);
}

CUresult cuMemFreeHost(void* address) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_LOG_CALL("host: free of %p", address);
  HostMemory::Range range;
  if (HostMemory::Get().Find(address, &range) && range.pool != nullptr) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TELL(released, address);
  return HostMemory::Get().Free(address, HostMemory::Kind::kPinned) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned flags) {
  if (pointer == nullptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return AllocateHost(reinterpret_cast<void**>(pointer), bytes, HostMemory::Kind::kManaged, flags);
}

CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return HostMemory::Get().Register(address, bytes, flags, context->device->ordinal) ==
                 HostMemory::RegisterResult::kRegistered
             ? CUDA_SUCCESS
             : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult cuMemHostUnregister(void* address) {
  SIMCUDA_TRY(CheckInitialized());
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return HostMemory::Get().Unregister(address) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pointer, void* address, unsigned flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (pointer == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  HostMemory::Range range;
  if (!HostMemory::Get().Find(address, &range)) return CUDA_ERROR_INVALID_VALUE;
  *pointer = ToPointer(address);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* address) {
  SIMCUDA_TRY(CheckInitialized());
  HostMemory::Range range;
  if (flags == nullptr || !HostMemory::Get().Find(address, &range)) return CUDA_ERROR_INVALID_VALUE;
  *flags = range.flags;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const PointerInfo info = Describe(ToAddress(pointer));
  if (info.kind == PointerInfo::Kind::kUnknown) return CUDA_ERROR_INVALID_VALUE;
  const bool host = info.kind == PointerInfo::Kind::kPinned || info.kind == PointerInfo::Kind::kRegistered;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return cuDevicePrimaryCtxRetain(static_cast<CUcontext*>(data), info.device);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(data) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (info.kind == PointerInfo::Kind::kDevice) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<void**>(data) = ToAddress(pointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(data) = reinterpret_cast<unsigned long long>(info.base);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(data) = info.kind == PointerInfo::Kind::kManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = info.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<int*>(data) = info.kind == PointerInfo::Kind::kDevice && !info.mapped && info.pool == nullptr;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(data) = ToPointer(info.base);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(data) = info.bytes;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<int*>(data) = 1;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      *static_cast<uint64_t*>(data) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<CUmemoryPool*>(data) = reinterpret_cast<CUmemoryPool>(info.pool);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      *static_cast<int*>(data) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      *static_cast<int*>(data) = 3;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool known = Describe(ToAddress(pointer)).kind != PointerInfo::Kind::kUnknown;
  for (unsigned index = 0; index < count; ++index) {
    if (known && cuPointerGetAttribute(data[index], attributes[index], pointer) == CUDA_SUCCESS) continue;
    // Attributes that the pointer does not have read as zero.
    switch (attributes[index]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned*>(data[index]) = 0;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(data[index]) = -2;
        break;
      default:
        *static_cast<void**>(data[index]) = nullptr;
    }
  }
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
