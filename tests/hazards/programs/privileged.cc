// SPDX-License-Identifier: Apache-2.0
//
// privileged LIBRARY: loads the CUDA runtime itself, as a program with the set-user-ID bit has to, and calls the first
// cudaMalloc that the loader finds.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>

int main(int, char** argv) {
  void* runtime = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (runtime == nullptr) {
    std::puts(dlerror());
    return 1;
  }
  auto* allocate = reinterpret_cast<int (*)(void**, size_t)>(dlsym(RTLD_DEFAULT, "cudaMalloc"));
  auto* release = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "cudaFree"));
  for (int i = 0; i < 10; ++i) {
    void* pointer = nullptr;
    if (allocate(&pointer, 4096) != 0 || release(pointer) != 0) return 2;
  }
  std::printf("privileged: %lu, effective user %d\n", getauxval(AT_SECURE), static_cast<int>(geteuid()));
  return 0;
}
