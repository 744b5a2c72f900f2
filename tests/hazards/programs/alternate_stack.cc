// SPDX-License-Identifier: Apache-2.0
//
// A handler on an alternate stack that lies below the thread's own, and one that lies above it, allocates.
#include <signal.h>
#include <sys/mman.h>

#include "tests/hazards/programs/device.h"

namespace {

void Handler(int) { Pairs(3); }

__attribute__((noinline)) void Raise(int depth) {
  if (depth > 0) {
    Raise(depth - 1);
  } else {
    raise(SIGUSR2);
    Pairs(1);
  }
  asm volatile("");
}

// Handles the signal on `stack`, several times, from frames of several depths.
void On(void* stack, size_t bytes) {
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = bytes;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = Handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  for (int depth = 0; depth < 100; ++depth) Raise(depth % 7);
}

}  // namespace

int main() {
  alignas(64) static char above[1 << 16];
  void* below = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  alignas(64) char inside[1 << 16];
  On(above, sizeof above);
  On(below, 1 << 16);
  On(inside, sizeof inside);
  munmap(below, 1 << 16);
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  Raise(3);
  std::puts("done");
  return 0;
}
