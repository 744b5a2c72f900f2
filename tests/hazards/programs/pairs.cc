// SPDX-License-Identifier: Apache-2.0
//
// pairs COUNT: nothing dangerous. For what endangers a program from outside.
#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  Pairs(std::atoi(argv[1]));
  std::puts("done");
  return 0;
}
