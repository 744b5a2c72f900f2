// SPDX-License-Identifier: Apache-2.0
// Handles of memory and events for other processes; memory and semaphores of other interfaces, whose handles are the
// driver's.
#include <cstring>

#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
                  sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle),
              "the runtime's handles are the driver's");

}  // namespace

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuIpcGetMemHandle)(reinterpret_cast<CUipcMemHandle*>(handle), ToPointer(address)));
}

cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned flags) {
  RUNTIME_TRY(Bind());
  CUipcMemHandle driver_handle;
  memcpy(&driver_handle, &handle, sizeof(handle));
  return Done(DRIVER(cuIpcOpenMemHandle_v2)(reinterpret_cast<CUdeviceptr*>(address), driver_handle, flags));
}

cudaError_t cudaIpcCloseMemHandle(void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuIpcCloseMemHandle)(ToPointer(address)));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuIpcGetEventHandle)(reinterpret_cast<CUipcEventHandle*>(handle), event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  RUNTIME_TRY(Bind());
  CUipcEventHandle driver_handle;
  memcpy(&driver_handle, &handle, sizeof(handle));
  return Done(DRIVER(cuIpcOpenEventHandle)(event, driver_handle));
}

}  // extern "C"

namespace {

// The driver has a few reserved words more at the end, which it does not read.
template <typename DriverDescription, typename Description>
DriverDescription Convert(const Description& description) {
  DriverDescription converted = {};
  converted.type = static_cast<decltype(converted.type)>(description.type);
  converted.handle.fd = description.handle.fd;
  converted.flags = description.flags;
  return converted;
}

}  // namespace

extern "C" {

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t* memory, const cudaExternalMemoryHandleDesc* description) {
  if (description == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  auto converted = Convert<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>(*description);
  converted.size = description->size;
  return Done(DRIVER(cuImportExternalMemory)(reinterpret_cast<CUexternalMemory*>(memory), &converted));
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void** address, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc* description) {
  if (description == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC converted = {};
  converted.offset = description->offset;
  converted.size = description->size;
  converted.flags = description->flags;
  return Done(DRIVER(cuExternalMemoryGetMappedBuffer)(reinterpret_cast<CUdeviceptr*>(address),
                                                      reinterpret_cast<CUexternalMemory>(memory), &converted));
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuDestroyExternalMemory)(reinterpret_cast<CUexternalMemory>(memory)));
}

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t* semaphore,
                                        const cudaExternalSemaphoreHandleDesc* description) {
  if (description == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  const auto converted = Convert<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>(*description);
  return Done(DRIVER(cuImportExternalSemaphore)(reinterpret_cast<CUexternalSemaphore*>(semaphore), &converted));
}

cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuDestroyExternalSemaphore)(reinterpret_cast<CUexternalSemaphore>(semaphore)));
}

}  // extern "C"

}  // namespace vramtrack::simcuda
