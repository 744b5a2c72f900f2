// SPDX-License-Identifier: Apache-2.0
//
// Another tool that is preloaded beside the tracer: takes over cudaMalloc and cuMemAlloc_v2, and says at the end how
// often it was called. OTHER_TOOL_BY_HANDLE=1 has it find the real driver's function in the library itself instead of
// by RTLD_NEXT, as tools do that the runtime's own look-up would not come by.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<int> runtime_calls{0}, driver_calls{0};

__attribute__((destructor)) void Say() { std::printf("other_tool %d %d\n", runtime_calls.load(), driver_calls.load()); }

template <typename Function>
Function* Real(Function*, const char* name, const char* library) {
  if (getenv("OTHER_TOOL_BY_HANDLE") == nullptr) return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return reinterpret_cast<Function*>(dlsym(dlopen(library, RTLD_NOW), name));
}

}  // namespace

extern "C" int cudaMalloc(void** pointer, size_t bytes) {
  ++runtime_calls;
  static auto* const real = Real(&cudaMalloc, "cudaMalloc", getenv("OTHER_TOOL_RUNTIME"));
  return real(pointer, bytes);
}

extern "C" int cuMemAlloc_v2(unsigned long long* pointer, size_t bytes) {
  ++driver_calls;
  static auto* const real = Real(&cuMemAlloc_v2, "cuMemAlloc_v2", "libcuda.so.1");
  return real(pointer, bytes);
}
