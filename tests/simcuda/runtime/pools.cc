// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation.
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

// The driver refuses a size of 0.
cudaError_t Empty(void** address) {
  *address = nullptr;
  return cudaSuccess;
}

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps) && sizeof(cudaMemLocation) == sizeof(CUmemLocation) &&
                  sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc) &&
                  sizeof(cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData),
              "the runtime's structures are passed on as the driver's");

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t stream) {
  if (address == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  if (bytes == 0) return Empty(address);
  return Done(DRIVER(cuMemAllocAsync)(reinterpret_cast<CUdeviceptr*>(address), bytes, stream));
}

cudaError_t cudaMallocFromPoolAsync(void** address, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (address == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  if (bytes == 0) return Empty(address);
  return Done(DRIVER(cuMemAllocFromPoolAsync)(reinterpret_cast<CUdeviceptr*>(address), bytes, pool, stream));
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return address == nullptr ? cudaSuccess : Done(DRIVER(cuMemFreeAsync)(ToPointer(address), stream));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolCreate)(pool, reinterpret_cast<const CUmemPoolProps*>(properties)));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolDestroy)(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep_bytes) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolTrimTo)(pool, keep_bytes));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolGetAttribute)(pool, static_cast<CUmemPool_attribute>(attribute), value));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolSetAttribute)(pool, static_cast<CUmemPool_attribute>(attribute), value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptors, size_t count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolSetAccess)(pool, reinterpret_cast<const CUmemAccessDesc*>(descriptors), count));
}

cudaError_t cudaMemPoolExportToShareableHandle(void* shared, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                               unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(
      DRIVER(cuMemPoolExportToShareableHandle)(shared, pool, static_cast<CUmemAllocationHandleType>(type), flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* shared, cudaMemAllocationHandleType type,
                                                 unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(
      DRIVER(cuMemPoolImportFromShareableHandle)(pool, shared, static_cast<CUmemAllocationHandleType>(type), flags));
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolExportPointer)(reinterpret_cast<CUmemPoolPtrExportData*>(data), ToPointer(address)));
}

cudaError_t cudaMemPoolImportPointer(void** address, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemPoolImportPointer)(reinterpret_cast<CUdeviceptr*>(address), pool,
                                             reinterpret_cast<CUmemPoolPtrExportData*>(data)));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceGetDefaultMemPool)(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceGetMemPool)(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceSetMemPool)(device, pool));
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuMemGetDefaultMemPool)(pool, reinterpret_cast<CUmemLocation*>(location),
                                             static_cast<CUmemAllocationType>(type)));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuMemGetMemPool)(pool, reinterpret_cast<CUmemLocation*>(location),
                                      static_cast<CUmemAllocationType>(type)));
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuMemSetMemPool)(reinterpret_cast<CUmemLocation*>(location),
                                      static_cast<CUmemAllocationType>(type), pool));
}
#endif

}  // extern "C"

}  // namespace vramtrack::simcuda
