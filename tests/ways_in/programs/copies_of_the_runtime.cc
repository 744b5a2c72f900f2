// SPDX-License-Identifier: Apache-2.0
//
// usage: copies_of_the_runtime [namespace] LIBRARY...
//
// Loads copies of the runtime and allocates in each by what dlsym finds there; with "namespace", those behind the first
// in a namespace of their own.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  const bool own = argc > 1 && std::strcmp(argv[1], "namespace") == 0;
  for (int i = own ? 2 : 1; i < argc; ++i) {
    void* library = own && i > 2 ? dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW) : dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    auto* allocate = reinterpret_cast<int (*)(void**, size_t)>(dlsym(library, "cudaMalloc"));
    auto* release = reinterpret_cast<int (*)(void*)>(dlsym(library, "cudaFree"));
    void* memory = nullptr;
    std::printf("%d", allocate(&memory, static_cast<size_t>(1000) * static_cast<size_t>(i)));
    std::printf(" %d\n", release(memory));
  }
}
