// SPDX-License-Identifier: Apache-2.0
//
// Leaves frames that have called CUDA by longjmp, and calls again from others at the same place of the stack.
#include <setjmp.h>

#include "tests/hazards/programs/device.h"

namespace {

jmp_buf target;

__attribute__((noinline)) void Deep(int depth) {
  Pairs(1);
  volatile char room[64] = {static_cast<char>(depth)};
  if (depth == 0) longjmp(target, 1);
  Deep(depth - 1);
  asm volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline)) void OtherDeep(int depth) {
  volatile char room[96] = {static_cast<char>(depth)};
  if (depth == 0) longjmp(target, 1);
  OtherDeep(depth - 1);
  Pairs(1);
  asm volatile("" : : "r"(room) : "memory");
}

}  // namespace

int main() {
  volatile int returns = 0;
  for (volatile int round = 0; round < 1000; round = round + 1) {
    if (setjmp(target) == 0) {
      (round % 2 == 0 ? Deep : OtherDeep)(round % 20);
    } else {
      returns = returns + 1;
    }
  }
  Pairs(1);
  std::printf("%d\n", returns);
  return 0;
}
