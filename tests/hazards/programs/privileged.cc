// SPDX-License-Identifier: Apache-2.0
//
// privileged LIBRARY...: loads the driver and the CUDA runtime itself, as a program with the set-user-ID bit has to,
// and calls the first cudaMalloc that the loader finds. Says whether it has privileges, and whether a tracer is there.
#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      std::puts(dlerror());
      return 1;
    }
  }
  auto* allocate = reinterpret_cast<int (*)(void**, size_t)>(dlsym(RTLD_DEFAULT, "cudaMalloc"));
  auto* release = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "cudaFree"));
  for (int i = 0; i < 10; ++i) {
    void* pointer = nullptr;
    if (allocate(&pointer, 4096) != 0 || release(pointer) != 0) return 2;
  }
  std::printf("privileges: %s, tracer: %s\n", getauxval(AT_SECURE) != 0 ? "some" : "none",
              dlsym(RTLD_DEFAULT, "vramtrack_step") != nullptr ? "there" : "not there");
  return 0;
}
