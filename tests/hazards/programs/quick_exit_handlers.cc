// SPDX-License-Identifier: Apache-2.0
//
// Allocates in a handler of at_quick_exit, where the tracer's own end never comes.
#include "tests/hazards/programs/device.h"

int main() {
  Pairs(10);
  at_quick_exit([] {
    Pairs(5);
    std::puts("quick");
    std::fflush(stdout);
  });
  std::quick_exit(3);
}
