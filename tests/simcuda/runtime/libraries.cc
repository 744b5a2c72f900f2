// SPDX-License-Identifier: Apache-2.0
// Device code that a program loads at run time.
#include "tests/simcuda/runtime/driver.h"

#if CUDART_VERSION >= 12000

namespace vramtrack::simcuda {
namespace {

// The runtime's handles are the driver's.
CUlibrary ToLibrary(cudaLibrary_t library) { return reinterpret_cast<CUlibrary>(library); }

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  RUNTIME_TRY(Bind());
  return Done(
      DRIVER(cuLibraryLoadData)(reinterpret_cast<CUlibrary*>(library), code, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption*, void**, unsigned,
                                    cudaLibraryOption*, void**, unsigned) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryLoadFromFile)(reinterpret_cast<CUlibrary*>(library), path, nullptr, nullptr, 0, nullptr,
                                            nullptr, 0));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryUnload)(ToLibrary(library)));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryGetKernel)(reinterpret_cast<CUkernel*>(kernel), ToLibrary(library), name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryGetKernelCount)(count, ToLibrary(library)));
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryGetGlobal)(reinterpret_cast<CUdeviceptr*>(address), bytes, ToLibrary(library), name));
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryGetManaged)(reinterpret_cast<CUdeviceptr*>(address), bytes, ToLibrary(library), name));
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library, const char* name) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLibraryGetUnifiedFunction)(function, ToLibrary(library), name));
}

}  // extern "C"

}  // namespace vramtrack::simcuda

#endif  // CUDART_VERSION
