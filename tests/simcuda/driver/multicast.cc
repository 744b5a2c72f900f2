// SPDX-License-Identifier: Apache-2.0
// Multicast objects: a handle that memory of several devices is bound to. Mapping one gives addresses that no kernel
// uses.
#include <cuda.h>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/virtual_memory.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

PhysicalMemory* FromHandle(CUmemGenericAllocationHandle handle) { return reinterpret_cast<PhysicalMemory*>(handle); }

CUresult ToResult(VirtualMemory::Result result) {
  return result == VirtualMemory::Result::kOk ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool Fits(PhysicalMemory* memory, size_t offset, size_t bytes) {
  return VirtualMemory::Get().IsLive(memory) && bytes != 0 && bytes % kPageBytes == 0 && offset % kPageBytes == 0 &&
         offset <= memory->bytes && bytes <= memory->bytes - offset;
}

CUresult Bind(CUmemGenericAllocationHandle multicast, size_t offset, PhysicalMemory* memory, size_t memory_offset,
              size_t bytes, unsigned long long flags) {
  if (flags != 0 || !Fits(FromHandle(multicast), offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (!Fits(memory, memory_offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return ToResult(VirtualMemory::Get().Bind(FromHandle(multicast), offset, memory));
}

}  // namespace

extern "C" {

CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* properties,
                                   CUmulticastGranularity_flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (granularity == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kPageBytes;
  return CUDA_SUCCESS;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle, const CUmulticastObjectProp* properties) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || properties == nullptr || properties->numDevices == 0) return CUDA_ERROR_INVALID_VALUE;
  if (properties->size == 0 || properties->size % kPageBytes != 0) return CUDA_ERROR_INVALID_VALUE;
  PhysicalMemory* created =
      VirtualMemory::Get().CreateMulticast(properties->size, static_cast<unsigned>(properties->handleTypes));
  SIMCUDA_LOG_CALL("created a multicast object of %zu bytes: %p", properties->size, static_cast<void*>(created));
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(created);
  return CUDA_SUCCESS;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  PhysicalMemory* multicast = FromHandle(handle);
  return VirtualMemory::Get().IsLive(multicast) && multicast->multicast ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle multicast, size_t offset, CUmemGenericAllocationHandle memory,
                            size_t memory_offset, size_t bytes, unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  return Bind(multicast, offset, FromHandle(memory), memory_offset, bytes, flags);
}

// The memory behind an address that is mapped.
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle multicast, size_t offset, CUdeviceptr pointer, size_t bytes,
                             unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  VirtualMemory::Mapping mapping;
  if (!VirtualMemory::Get().FindMapping(ToAddress(pointer), &mapping)) return CUDA_ERROR_INVALID_VALUE;
  const size_t memory_offset = mapping.offset + static_cast<size_t>(ToAddress(pointer) - mapping.base);
  return Bind(multicast, offset, mapping.memory, memory_offset, bytes, flags);
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle multicast, CUdevice ordinal, size_t offset, size_t) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  return ToResult(VirtualMemory::Get().Unbind(FromHandle(multicast), offset));
}

}  // extern "C"

}  // namespace vramtrack::simcuda
