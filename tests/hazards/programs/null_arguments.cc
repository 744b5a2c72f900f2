// SPDX-License-Identifier: Apache-2.0
//
// null_arguments ENTRY...: calls each entry point with zeros for all its arguments, and tells what it answered.
#include <dlfcn.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

// What is passed by value and does not fit into registers is here.
struct OnStack {
  uint64_t words[32];
};
using Function = int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, OnStack);

// On aarch64, structures of more than 16 bytes that are passed by value come by reference, and no compiler passes a
// null reference: handles of 64 bytes, and extents.
bool TakesReference([[maybe_unused]] const char* name) {
#if defined(__aarch64__)
  for (const char* part : {"IpcOpen", "Malloc3D", "MallocMipmapped"}) {
    if (std::strstr(name, part) != nullptr) return true;
  }
#endif
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) std::puts(dlerror());
  for (int i = 1; i < argc; ++i) {
    auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, argv[i]));
    std::printf("%s: ", argv[i]);
    std::fflush(stdout);
    if (function == nullptr || TakesReference(argv[i])) {
      std::puts(function == nullptr ? "not there" : "by reference");
      continue;
    }
    std::printf("%d\n", function(0, 0, 0, 0, 0, 0, OnStack{}));
  }
  return 0;
}
