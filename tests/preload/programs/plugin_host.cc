// SPDX-License-Identifier: Apache-2.0
//
// plugin_host LIBRARY...: loads each library, lets it allocate, unloads it, several times over.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < argc; ++i) {
      void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) {
        std::printf("%s\n", dlerror());
        return 1;
      }
      reinterpret_cast<void (*)()>(dlsym(library, "plugin_allocate"))();
      dlclose(library);
    }
  }
  return 0;
}
