// SPDX-License-Identifier: Apache-2.0
//
// Allocates and frees when the program's objects are destroyed: of the first thread, of the program, of atexit and of
// the loader.
#include "tests/hazards/programs/device.h"

namespace {

struct Holder {
  const char* name;
  void* pointer = Take(1024);
  ~Holder() {
    Give(pointer);
    Pairs(1);
    std::printf("%s\n", name);
    std::fflush(stdout);
  }
};

Holder of_program{"of the program"};
thread_local Holder of_thread{"of the first thread"};

__attribute__((destructor)) void OfLoader() {
  Pairs(1);
  std::puts("of the loader");
  std::fflush(stdout);
}

}  // namespace

int main() {
  static Holder of_main{"of main"};
  std::atexit([] {
    Pairs(1);
    std::puts("atexit");
    std::fflush(stdout);
  });
  return of_thread.pointer == nullptr || of_main.pointer == nullptr;
}
