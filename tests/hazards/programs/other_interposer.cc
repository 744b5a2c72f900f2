// SPDX-License-Identifier: Apache-2.0
//
// Another tool's preload library: counts calls and passes them on to whoever comes next.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace {

std::atomic<int> allocations{0}, frees{0};

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

__attribute__((destructor)) void Report() {
  std::printf("other tool: %d allocations, %d frees\n", allocations.load(), frees.load());
  std::fflush(stdout);
}

}  // namespace

extern "C" {

int cudaMalloc(void** pointer, size_t bytes) {
  static const auto next = Next<int (*)(void**, size_t)>("cudaMalloc");
  ++allocations;
  return next(pointer, bytes);
}

int cudaFree(void* pointer) {
  static const auto next = Next<int (*)(void*)>("cudaFree");
  ++frees;
  return next(pointer);
}

int dlclose(void* handle) {
  static const auto next = Next<int (*)(void*)>("dlclose");
  return next(handle);
}

}  // extern "C"
