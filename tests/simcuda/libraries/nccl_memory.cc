// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/nccl_memory.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {
namespace {

template <typename Function>
Function* Find(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPointByVersion(name, &found, 10020, cudaEnableDefault, &status);
  return reinterpret_cast<Function*>(found);
}

#define DRIVER_FUNCTION(name)                                    \
  ([] {                                                          \
    static auto* const function = Find<decltype(::name)>(#name); \
    return function;                                             \
  }())

CUmemAllocationProp OnDevice(int device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

}  // namespace

bool AllocateMapped(void** address, size_t bytes) {
  int device = 0;
  if (cudaFree(nullptr) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess) return false;
  const CUmemAllocationProp properties = OnDevice(device);
  size_t granularity = 0;
  DRIVER_FUNCTION(cuMemGetAllocationGranularity)
  (&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (granularity == 0 || bytes == 0) return false;
  bytes = (bytes + granularity - 1) / granularity * granularity;

  CUmemGenericAllocationHandle memory;
  CUdeviceptr pointer;
  if (DRIVER_FUNCTION(cuMemCreate)(&memory, bytes, &properties, 0) != CUDA_SUCCESS) return false;
  bool done = DRIVER_FUNCTION(cuMemAddressReserve)(&pointer, bytes, granularity, 0, 0) == CUDA_SUCCESS;
  if (done) {
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    done = DRIVER_FUNCTION(cuMemMap)(pointer, bytes, 0, memory, 0) == CUDA_SUCCESS &&
           DRIVER_FUNCTION(cuMemSetAccess)(pointer, bytes, &access, 1) == CUDA_SUCCESS;
    if (!done) DRIVER_FUNCTION(cuMemAddressFree)(pointer, bytes);
  }
  // From here on the mapping keeps it.
  DRIVER_FUNCTION(cuMemRelease)(memory);
  if (done) *address = reinterpret_cast<void*>(pointer);
  return done;
}

bool FreeMapped(void* address) {
  const auto pointer = reinterpret_cast<CUdeviceptr>(address);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  using Range = CUresult(CUdeviceptr*, size_t*, CUdeviceptr);
  if (Find<Range>("cuMemGetAddressRange")(&base, &bytes, pointer) != CUDA_SUCCESS || base != pointer) return false;
  return DRIVER_FUNCTION(cuMemUnmap)(pointer, bytes) == CUDA_SUCCESS &&
         DRIVER_FUNCTION(cuMemAddressFree)(pointer, bytes) == CUDA_SUCCESS;
}

}  // namespace vramtrack::simcuda
