// SPDX-License-Identifier: Apache-2.0
//
// To be preloaded behind the tracer, in front of the real runtime: once the process has begun to end, every call
// answers cudaErrorCudartUnloading, as NVIDIA's does.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace {

constexpr int kUnloading = 4;
std::atomic<bool> ending{false};

// At the first call: what is registered before main runs only when the loader ends this library.
void WatchTheEnd() {
  static const int registered = std::atexit([] { ending = true; });
  (void)registered;
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int cudaMalloc(void** pointer, size_t bytes) {
  static const auto next = Next<int (*)(void**, size_t)>("cudaMalloc");
  WatchTheEnd();
  return ending ? kUnloading : next(pointer, bytes);
}

int cudaFree(void* pointer) {
  static const auto next = Next<int (*)(void*)>("cudaFree");
  return ending ? kUnloading : next(pointer);
}

}  // extern "C"
