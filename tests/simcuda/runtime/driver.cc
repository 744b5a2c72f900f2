// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/driver.h"

#include <atomic>

#include "tests/simcuda/runtime/current_device.h"
#include "tests/simcuda/runtime/driver_lookup.h"

namespace vramtrack::simcuda {

// Plain data: what runs when a thread ends may still call.
struct ThreadState {
  int device;
  cudaError_t last_error;
};

// Of external linkage, because gold 1.16 mixes up the offsets of thread-local variables that are local to a file and
// looked up by a plain offset.
__attribute__((tls_model("initial-exec"), visibility("hidden"))) thread_local ThreadState thread_state;

namespace {

CUresult NotSupported() { return CUDA_ERROR_NOT_SUPPORTED; }

// Which primary contexts this runtime holds; a reset drops one.
std::atomic<bool> retained[64];

}  // namespace

void* FindDriverFunction(const char* name) {
  void* function = LoadDriver() ? FindInDriver(name) : nullptr;
  return function != nullptr ? function : reinterpret_cast<void*>(NotSupported);
}

cudaError_t Done(cudaError_t error) {
  if (error != cudaSuccess) thread_state.last_error = error;
  return error;
}

cudaError_t Initialize() {
  if (!LoadDriver()) return cudaErrorInsufficientDriver;
  static const CUresult result = [] {
    const CUresult initialized = DRIVER(cuInit)(0);
    if (initialized == CUDA_SUCCESS) TellOfCalls();
    return initialized;
  }();
  return static_cast<cudaError_t>(result);
}

cudaError_t Bind() {
  RUNTIME_TRY(Initialize());
  CUcontext context = nullptr;
  const CUresult result = DRIVER(cuCtxGetCurrent)(&context);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  if (__builtin_expect(context != nullptr && retained[thread_state.device].load(std::memory_order_relaxed), 1)) {
    return cudaSuccess;
  }
  // A context that the program itself made current stays.
  if (context != nullptr && !IsPrimary(context, thread_state.device)) return cudaSuccess;
  return MakeCurrent(thread_state.device);
}

cudaError_t MakeCurrent(int device) {
  CUcontext context = nullptr;
  CUresult result = DRIVER(cuDevicePrimaryCtxRetain)(&context, device);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  if (retained[device].exchange(true)) DRIVER(cuDevicePrimaryCtxRelease_v2)(device);
  result = DRIVER(cuCtxSetCurrent)(context);
  if (result == CUDA_SUCCESS) thread_state.device = device;
  return static_cast<cudaError_t>(result);
}

bool IsPrimary(CUcontext context, int device) {
  CUcontext primary = nullptr;
  if (DRIVER(cuDevicePrimaryCtxRetain)(&primary, device) != CUDA_SUCCESS) return false;
  // A second reference is never needed, and without the first it stands for it.
  if (retained[device].exchange(true)) DRIVER(cuDevicePrimaryCtxRelease_v2)(device);
  return primary == context;
}

int ThreadDevice() {
  CUdevice device;
  if (DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS) return device;
  return thread_state.device;
}

void ForgetContext(int device) { retained[device] = false; }

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = thread_state.last_error;
  thread_state.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return thread_state.last_error; }

}  // extern "C"

}  // namespace vramtrack::simcuda
