// SPDX-License-Identifier: Apache-2.0
//
// null_arguments ENTRY...: calls each entry point with zeros for all its arguments, and tells what it answered.
#include <dlfcn.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

// What is passed by value and does not fit into registers is here.
struct OnStack {
  uint64_t words[32];
};
using Function = int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, OnStack);

}  // namespace

int main(int argc, char** argv) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr) std::puts(dlerror());
  for (int i = 1; i < argc; ++i) {
    auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, argv[i]));
    std::printf("%s: ", argv[i]);
    std::fflush(stdout);
    if (function == nullptr) {
      std::puts("not there");
      continue;
    }
#if defined(__aarch64__)
    // Larger structures come by reference there, and no compiler passes a null reference: of these functions, handles
    // of 64 bytes.
    if (std::strstr(argv[i], "IpcOpen") != nullptr) {
      std::puts("by reference");
      continue;
    }
#endif
    std::printf("%d\n", function(0, 0, 0, 0, 0, 0, OnStack{}));
  }
  return 0;
}
