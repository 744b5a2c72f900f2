// SPDX-License-Identifier: Apache-2.0
//
// usage: called_back LIBRARY ROUNDS
// Loads libasks_in_constructor half-way, waits until CUPTI has called it back, and goes on.
#include <dlfcn.h>
#include <unistd.h>

#include "tests/cupti/programs/rounds.h"

int main(int, char** words) {
  const int rounds = atoi(words[2]);
  Rounds(rounds / 2);
  usleep(500000);  // the tracer has begun
  void* tool = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (tool == nullptr) return 1;
  const auto waited_ms = reinterpret_cast<long (*)()>(dlsym(tool, "WaitedMs"));
  Rounds(rounds / 4);
  for (int i = 0; waited_ms() < 0 && i < 1000; ++i) usleep(10000);
  Rounds(rounds / 4);
  puts(waited_ms() < 0 ? "not called back" : waited_ms() < 900 ? "at once" : "late");
  return 0;
}
