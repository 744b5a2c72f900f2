// SPDX-License-Identifier: Apache-2.0
//
// dlopen_loop LIBRARY...: loads libraries that allocate, and unloads them, again and again, while another thread takes
// stacks.
#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "tests/hazards/programs/device.h"

int main(int argc, char** argv) {
  std::atomic<bool> done{false};
  int others = 0;
  std::thread other([&] {
    for (; !done.load(); ++others) {
      Pairs(1);
      std::thread([] { Pairs(1); }).join();
    }
  });
  for (int round = 0; round < 150; ++round) {
    for (int i = 1; i < argc; ++i) {
      void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL | (round % 3 == 0 ? RTLD_DEEPBIND : 0));
      if (library == nullptr) {
        std::puts(dlerror());
        std::abort();
      }
      reinterpret_cast<void (*)()>(dlsym(library, "allocate"))();
      if (round % 5 != 0) dlclose(library);  // one in five is unloaded by a later round's
      if (round % 5 == 1) dlclose(library);
    }
  }
  done = true;
  other.join();
  std::printf("%s\n", dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == nullptr ? "gone" : "there");
  return 0;
}
