// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_CURRENT_H_
#define TESTS_SIMCUDA_DRIVER_CURRENT_H_

#include <cuda.h>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/handles.h"
#include "tests/simcuda/device/options.h"

namespace vramtrack::simcuda {

// Returns CUDA_SUCCESS after cuInit was called in this process.
CUresult CheckInitialized();
CUresult CheckDevice(CUdevice ordinal);

// Gets the current context of the calling thread.
CUresult CurrentContext(Context** context);

// Gets the stream for the handle `stream` in `context`. Returns CUDA_ERROR_INVALID_HANDLE for an invalid handle.
CUresult ResolveStream(CUstream stream, Context* context, Stream** resolved);

// Gets the stream for a handle in the current context.
CUresult CurrentStream(CUstream stream, Stream** resolved);

// Checks a call that could break a capture. While a stream is captured in global mode it returns an error and
// invalidates the capture.
CUresult CheckUnsafeCall();

// Returns from the enclosing function with the result of `call` if that is an error.
#define SIMCUDA_TRY(call)                                      \
  do {                                                         \
    const CUresult simcuda_result = (call);                    \
    if (simcuda_result != CUDA_SUCCESS) return simcuda_result; \
  } while (0)

inline CUdeviceptr ToPointer(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }
inline char* ToAddress(CUdeviceptr pointer) { return reinterpret_cast<char*>(pointer); }

// Allocate and free the memory of SIMCUDA_CONTEXT_MEMORY for a context that is not its device's primary one.
inline void TakeContextMemory(Context* context) {
  if (GetOptions().context_bytes == 0) return;
  const size_t pages = (GetOptions().context_bytes + kPageBytes - 1) / kPageBytes;
  context->memory = context->device->memory.TakePages(pages, PageUse::kContext, context);
}

inline void ReturnContextMemory(Context* context) {
  if (context->memory != nullptr) context->device->memory.ReturnPages(context->memory);
  context->memory = nullptr;
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_CURRENT_H_
