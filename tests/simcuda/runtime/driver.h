// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_DRIVER_H_
#define TESTS_SIMCUDA_RUNTIME_DRIVER_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {

// The driver's function of that full name, or one that answers "not supported". Loads the driver at the first call; a
// machine without one is reported by Initialize.
void* FindDriverFunction(const char* name);

// DRIVER(cuMemAlloc_v2)(&pointer, bytes): a call of what the driver's look-up answered, and of no symbol.
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

// Makes sure that the driver is there and initialized.
cudaError_t Initialize();

// Lets the simulated CUPTI know of this runtime's calls from now on.
void TellOfCalls();

// And that a context is current to this thread: that of the device which it has set, 0 at first.
cudaError_t Bind();

// Returns the error of `call` from the enclosing function, if it is one.
#define RUNTIME_TRY(call)                                         \
  do {                                                            \
    const cudaError_t runtime_error = (call);                     \
    if (runtime_error != cudaSuccess) return Done(runtime_error); \
  } while (0)

inline CUdeviceptr ToPointer(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_DRIVER_H_
