// SPDX-License-Identifier: Apache-2.0
//
// usage: load_runtime_calls local|global|deepbind LIBRARY...
//
// Loads libraries that call the runtime, in the way it is told, and has each make its calls.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  int flags = RTLD_NOW;
  flags |= way == "global" ? RTLD_GLOBAL : RTLD_LOCAL;
  if (way == "deepbind") flags |= RTLD_DEEPBIND;
  int wrong = 0;
  for (int i = 2; i < argc; ++i) {
    void* library = dlopen(argv[i], flags);
    if (library == nullptr) {
      std::printf("wrong: %s\n", dlerror());
      return 1;
    }
    // A call of the program itself, from a place of its own for each library.
    cudaEvent_t event;
    if (cudaEventCreate(&event) != cudaSuccess || cudaEventDestroy(event) != cudaSuccess) return 1;
    wrong |= reinterpret_cast<int (*)()>(dlsym(library, "runtime_calls"))();
  }
  return wrong;
}
