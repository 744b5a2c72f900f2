// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_DRIVER_H_
#define TESTS_SIMCUDA_RUNTIME_DRIVER_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {

// Returns the driver's function with this full name, or a function that returns "not supported". Loads the driver at
// the first call. Initialize reports an error if the driver is missing.
void* FindDriverFunction(const char* name);

// DRIVER(cuMemAlloc_v2)(&pointer, bytes) calls the function that the driver's lookup returned, without using a symbol.
#define DRIVER(name)                                                                          \
  ([] {                                                                                       \
    static const auto simcuda_function =                                                      \
        reinterpret_cast<decltype(&::name)>(::vramtrack::simcuda::FindDriverFunction(#name)); \
    return simcuda_function;                                                                  \
  }())

// Remembers an error for cudaGetLastError of this thread and returns it.
cudaError_t Done(cudaError_t error);
inline cudaError_t Done(CUresult result) {
  return __builtin_expect(result == CUDA_SUCCESS, 1) ? cudaSuccess : Done(static_cast<cudaError_t>(result));
}

// Loads and initializes the driver if that was not done yet. Returns an error if there is no driver.
cudaError_t Initialize();

// Does the same as Initialize, and makes a context current for this thread: that of the device that the thread has set,
// or of device 0.
cudaError_t Bind();

// Returns from the enclosing function with the result of `call` if that is an error.
#define RUNTIME_TRY(call)                                         \
  do {                                                            \
    const cudaError_t runtime_error = (call);                     \
    if (runtime_error != cudaSuccess) return Done(runtime_error); \
  } while (0)

inline CUdeviceptr ToPointer(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

// Returns the device that calls of this thread use.
int ThreadDevice();

// Makes the primary context of `device` the current one of the thread.
cudaError_t MakeCurrent(int device);

bool IsPrimary(CUcontext context, int device);

// Call this after a reset of the device. The next call then retains the primary context again.
void ForgetContext(int device);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_DRIVER_H_
