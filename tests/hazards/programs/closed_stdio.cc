// SPDX-License-Identifier: Apache-2.0
//
// closed_stdio FOLDER: was started without descriptors 0, 1 and 2. Calls CUDA, and then opens three files, which get
// the lowest numbers there are; writes to them and to what the C library calls stdout and stderr.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  Pairs(100);
  int descriptors[3];
  for (int i = 0; i < 3; ++i) {
    const std::string path = std::string(argv[1]) + "/" + std::to_string(i);
    descriptors[i] = open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600);
  }
  Pairs(20000);
  for (int i = 0; i < 3; ++i) dprintf(descriptors[i], "file %d is descriptor %d\n", i, descriptors[i]);
  std::printf("stdout\n");
  std::fprintf(stderr, "stderr\n");
  return 0;
}
