// SPDX-License-Identifier: Apache-2.0
//
// vanished_directory FOLDER before|after: its working directory is removed before or after the first CUDA call, and all
// descriptors are closed after that.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  const std::string folder = std::string(argv[1]) + "/here";
  if (mkdir(folder.c_str(), 0700) != 0 || chdir(folder.c_str()) != 0) return 1;
  if (std::string(argv[2]) == "after") Pairs(10);
  if (rename(folder.c_str(), (folder + ".gone").c_str()) != 0) return 2;
  // With what lies in it.
  if (system(("rm -rf " + folder + ".gone").c_str()) != 0) return 3;
  Pairs(10);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  Pairs(20000);
  std::puts("done");
  return 0;
}
