// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_CURRENT_H_
#define TESTS_SIMCUDA_DRIVER_CURRENT_H_

#include <cuda.h>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/handles.h"
#include "tests/simcuda/device/options.h"

namespace vramtrack::simcuda {

// CUDA_SUCCESS once cuInit was called, in this process.
CUresult CheckInitialized();
CUresult CheckDevice(CUdevice ordinal);

// The context that is current to the calling thread.
CUresult CurrentContext(Context** context);

// What `stream` stands for in `context`; CUDA_ERROR_INVALID_HANDLE for what is no stream.
CUresult ResolveStream(CUstream stream, Context* context, Stream** resolved);

// Both of the above.
CUresult CurrentStream(CUstream stream, Stream** resolved);

// While a stream is captured in global mode, calls that could break the capture are refused and end it.
CUresult CheckUnsafeCall();

// Returns the error of `call` from the enclosing function, if it is one.
#define SIMCUDA_TRY(call)                                      \
  do {                                                         \
    const CUresult simcuda_result = (call);                    \
    if (simcuda_result != CUDA_SUCCESS) return simcuda_result; \
  } while (0)

inline CUdeviceptr ToPointer(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }
inline char* ToAddress(CUdeviceptr pointer) { return reinterpret_cast<char*>(pointer); }

// SIMCUDA_CONTEXT_MEMORY of a context that is not its device's primary one.
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
