// SPDX-License-Identifier: Apache-2.0
//
// Loads allocator libraries as Python does, into nobody's scope but their own, those after --deepbind with
// RTLD_DEEPBIND, and has each use its blocks. Prints what the library that each reports to was told.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/frameworks/programs/c10.h"

int main(int count, char** arguments) {
  int flags = RTLD_NOW | RTLD_LOCAL;
  std::vector<c10::Told (*)()> libraries;
  for (int i = 1; i < count; ++i) {
    if (strcmp(arguments[i], "--deepbind") == 0) {
      flags |= RTLD_DEEPBIND;
      continue;
    }
    void* library = dlopen(arguments[i], flags);
    auto* use = library == nullptr ? nullptr : reinterpret_cast<c10::Told (*)()>(dlsym(library, "UseBlocks"));
    if (use == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    libraries.push_back(use);
  }
  for (auto* use : libraries) {
    const c10::Told told = use();
    std::printf("%d %d %d %d %lld\n", told.allocations, told.frees, told.failures, told.of_host,
                static_cast<long long>(told.bytes));
  }
}
