// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

// The runtime answers with success and no memory where the driver refuses a size of 0.
cudaError_t AllocateHost(void** address, size_t bytes, unsigned flags) {
  if (address == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  if (bytes == 0) {
    *address = nullptr;
    return cudaSuccess;
  }
  return Done(DRIVER(cuMemHostAlloc)(address, bytes, flags));
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** address, size_t bytes) {
  if (address == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  if (bytes == 0) {
    *address = nullptr;
    return cudaSuccess;
  }
  CUdeviceptr pointer;
  const CUresult result = DRIVER(cuMemAlloc_v2)(&pointer, bytes);
  if (__builtin_expect(result != CUDA_SUCCESS, 0)) return Done(result);
  *address = reinterpret_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaFree(void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemFree_v2)(ToPointer(address)));
}

cudaError_t cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height) {
  if (address == nullptr || pitch == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  if (width == 0 || height == 0) {
    *address = nullptr;
    *pitch = 0;
    return cudaSuccess;
  }
  CUdeviceptr pointer;
  const CUresult result = DRIVER(cuMemAllocPitch_v2)(&pointer, pitch, width, height, 4);
  if (result == CUDA_SUCCESS) *address = reinterpret_cast<void*>(pointer);
  return Done(result);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (pitched == nullptr) return Done(cudaErrorInvalidValue);
  void* address = nullptr;
  size_t pitch = 0;
  size_t rows;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return Done(cudaErrorMemoryAllocation);
  const cudaError_t error = cudaMallocPitch(&address, &pitch, extent.width, rows);
  if (error != cudaSuccess) return error;
  pitched->ptr = address;
  pitched->pitch = pitch;
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return cudaSuccess;
}

cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  if (address == nullptr || bytes == 0) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemAllocManaged)(reinterpret_cast<CUdeviceptr*>(address), bytes, flags));
}

cudaError_t cudaMallocHost(void** address, size_t bytes) { return AllocateHost(address, bytes, 0); }
cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned flags) { return AllocateHost(address, bytes, flags); }

cudaError_t cudaFreeHost(void* address) {
  RUNTIME_TRY(Bind());
  return address == nullptr ? cudaSuccess : Done(DRIVER(cuMemFreeHost)(address));
}

cudaError_t cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemHostRegister_v2)(address, bytes, flags));
}

cudaError_t cudaHostUnregister(void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemHostUnregister)(address));
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemHostGetDevicePointer_v2)(reinterpret_cast<CUdeviceptr*>(device), host, flags));
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemHostGetFlags)(flags, host));
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemGetInfo_v2)(free, total));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  if (attributes == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  memset(attributes, 0, sizeof(*attributes));
  unsigned type = 0, managed = 0;
  int device = 0;
  const CUdeviceptr pointer = ToPointer(address);
  void* mutable_address = const_cast<void*>(address);
  if (DRIVER(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) != CUDA_SUCCESS) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = mutable_address;
    return cudaSuccess;
  }
  DRIVER(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer);
  DRIVER(cuPointerGetAttribute)(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
  attributes->device = device;
  attributes->devicePointer = mutable_address;
  if (managed != 0) {
    attributes->type = cudaMemoryTypeManaged;
    attributes->hostPointer = mutable_address;
  } else if (type == CU_MEMORYTYPE_HOST) {
    attributes->type = cudaMemoryTypeHost;
    attributes->hostPointer = mutable_address;
  } else {
    attributes->type = cudaMemoryTypeDevice;
  }
  return cudaSuccess;
}

}  // extern "C"

namespace {

cudaError_t Advise() { return Done(Bind()); }

cudaError_t Prefetch(const void* address, size_t bytes, cudaMemLocation to, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  CUmemLocation location = {};
  location.type = static_cast<CUmemLocationType>(to.type);
  location.id = to.id;
  return Done(DRIVER(cuMemPrefetchAsync_v2)(ToPointer(address), bytes, location, 0, stream));
}

}  // namespace

extern "C" {

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return Advise(); }
cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, cudaMemLocation to, unsigned, cudaStream_t stream) {
  return Prefetch(address, bytes, to, stream);
}
#else
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return Advise(); }
cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, int device, cudaStream_t stream) {
  const auto type = device == cudaCpuDeviceId ? cudaMemLocationTypeInvalid : cudaMemLocationTypeDevice;
  return Prefetch(address, bytes, {type, device}, stream);
}
cudaError_t cudaMemAdvise_v2(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return Advise(); }
cudaError_t cudaMemPrefetchAsync_v2(const void* address, size_t bytes, cudaMemLocation to, unsigned,
                                    cudaStream_t stream) {
  return Prefetch(address, bytes, to, stream);
}
#endif

}  // extern "C"

}  // namespace vramtrack::simcuda
