// SPDX-License-Identifier: Apache-2.0
// Handles of memory and events for other processes.
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

}  // namespace vramtrack::simcuda
