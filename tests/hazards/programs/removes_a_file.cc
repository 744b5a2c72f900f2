// SPDX-License-Identifier: Apache-2.0
//
// removes_a_file FILE: allocates, removes the file, and allocates on.
#include <unistd.h>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  Pairs(100);
  unlink(argv[1]);
  Pairs(50000);
  std::puts("done");
  return 0;
}
