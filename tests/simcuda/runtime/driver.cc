// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/runtime/current_device.h"

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

using Finder = void* (*)(const char*);

CUresult NotSupported() { return CUDA_ERROR_NOT_SUPPORTED; }

// As programs with a static runtime do, and as newer releases of NVIDIA's shared one: every function is asked for by
// name from the public look-up, where tools that watch the driver can step in.
bool LooksUpPublicly() {
#ifdef SIMCUDA_STATIC_RUNTIME
  return true;
#else
  const char* value = getenv("SIMCUDA_PUBLIC_LOOKUP");
  return value != nullptr && strcmp(value, "1") == 0;
#endif
}

using ProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
ProcAddress public_lookup = nullptr;

void* FindPublicly(const char* full_name) {
  // The public look-up takes names without a version, and the version of CUDA whose variant of the function is meant.
  // Those that had no second variant yet in 12.8 include the ones that got one in 13, with other parameters.
  constexpr int kPlainVersion = 12080;
  char name[128];
  snprintf(name, sizeof(name), "%s", full_name);
  char* suffix = strrchr(name, '_');
  const bool is_variant = suffix != nullptr && suffix[1] == 'v';
  if (is_variant) *suffix = '\0';
  void* function = nullptr;
  const int version = is_variant ? CUDART_VERSION : kPlainVersion;
  return public_lookup(name, &function, version, 0, nullptr) == CUDA_SUCCESS ? function : nullptr;
}

Finder LoadDriver() {
  // Global, as NVIDIA's runtime does it: programs look for a driver that is loaded already.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    LogLine("no driver: %s", dlerror());
    return nullptr;
  }
  if (LooksUpPublicly()) {
    public_lookup = reinterpret_cast<ProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
    return public_lookup != nullptr ? FindPublicly : nullptr;
  }
  void* finder = dlsym(library, "simcuda_find_symbol");
  if (finder == nullptr) LogLine("the driver that was loaded is not the simulated one");
  return reinterpret_cast<Finder>(finder);
}

Finder GetFinder() {
  static const Finder finder = LoadDriver();
  return finder;
}

// Which primary contexts this runtime holds; a reset drops one.
std::atomic<bool> retained[64];

}  // namespace

void* FindDriverFunction(const char* name) {
  const Finder finder = GetFinder();
  void* function = finder == nullptr ? nullptr : finder(name);
  return function != nullptr ? function : reinterpret_cast<void*>(NotSupported);
}

cudaError_t Done(cudaError_t error) {
  if (error != cudaSuccess) thread_state.last_error = error;
  return error;
}

cudaError_t Initialize() {
  if (GetFinder() == nullptr) return cudaErrorInsufficientDriver;
  static const CUresult result = DRIVER(cuInit)(0);
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
