// SPDX-License-Identifier: Apache-2.0
//
// A program with a dlsym of its own, which everybody finds first. It counts, and asks the C library's.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "tests/hazards/programs/device.h"

namespace {

std::atomic<int> asked_by_program{0};

}  // namespace

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  using Function = void* (*)(void*, const char*);
  static const auto real = [] {
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
      if (void* found = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Function>(found);
    }
    std::abort();
  }();
  if (std::strncmp(name, "program_", 8) == 0) ++asked_by_program;
  return real(handle, name);
}

extern "C" __attribute__((visibility("default"))) int program_function() { return 42; }

int main() {
  Pairs(100);
  auto* function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "program_function"));
  std::printf("%d %d\n", function != nullptr ? function() : -1, asked_by_program.load());
  void* runtime = dlsym(RTLD_DEFAULT, "cudaMalloc");
  void* pointer = nullptr;
  std::printf("%d\n", reinterpret_cast<int (*)(void**, size_t)>(runtime)(&pointer, 4096));
  Give(pointer);
  return 0;
}
