// SPDX-License-Identifier: Apache-2.0
//
// changed_root FOLDER before|after: moves into FOLDER and makes it the root, before or after the first CUDA call.
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  if (std::string(argv[2]) == "after") Pairs(10);
  if (chdir(argv[1]) != 0 || chroot(".") != 0) {
    std::puts("cannot change the root");
    return 77;
  }
  Pairs(20000);
  std::puts("done");
  return 0;
}
