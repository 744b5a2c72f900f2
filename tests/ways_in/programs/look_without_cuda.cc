// SPDX-License-Identifier: Apache-2.0
//
// usage: look_without_cuda [local|global LIBRARY]
//
// Looks functions of CUDA up in a process that has none of its libraries, or has loaded one.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

void Look(const char* where, void* handle, const char* name) {
  dlerror();
  void* found = dlsym(handle, name);
  const char* error = dlerror();
  std::printf("%s %s: %s %s\n", where, name, found != nullptr ? "there" : "not there",
              error != nullptr ? error : "no message");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    const int scope = std::strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    if (dlopen(argv[2], RTLD_NOW | scope) == nullptr) return 1;
  }
  for (const char* name :
       {"cudaMalloc", "cuMemAlloc_v2", "cuGetProcAddress", "ncclCommInitRank", "cuNothing", "puts"}) {
    Look("default", RTLD_DEFAULT, name);
    Look("next", RTLD_NEXT, name);
    Look("program", dlopen(nullptr, RTLD_NOW), name);
    Look("libc", dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), name);
  }
}
