// SPDX-License-Identifier: Apache-2.0
//
// usage: brings_cupti first|later|none LIBRARY ROUNDS
// Loads a library that CUPTI is linked into before its first call of CUDA, or half-way. With "first" it profiles itself
// with it from half-way on. "none": no such library.
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "tests/cupti/programs/rounds.h"

int main(int, char** words) {
  const bool first = strcmp(words[1], "first") == 0;
  const int rounds = atoi(words[3]);
  void* tool = first ? dlopen(words[2], RTLD_NOW | RTLD_LOCAL) : nullptr;
  Rounds(rounds / 2);
  if (first) {
    const auto start = reinterpret_cast<bool (*)()>(dlsym(tool, "StartTool"));
    if (start == nullptr || !start()) return 1;
    Rounds(rounds / 2);
    reinterpret_cast<void (*)()>(dlsym(tool, "StopTool"))();
  } else if (strcmp(words[1], "later") != 0) {
    Rounds(rounds / 2);
  } else {
    usleep(500000);
    if (dlopen(words[2], RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
    usleep(1500000);  // new libraries are looked at every now and then
    Rounds(rounds / 2);
    puts("done");
  }
  return 0;
}
