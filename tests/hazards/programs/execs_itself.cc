// SPDX-License-Identifier: Apache-2.0
//
// execs_itself TIMES: becomes itself so many times, as the same process, and allocates each time.
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  const int times = std::atoi(argv[1]);
  Pairs(100);
  std::printf("%d left\n", times);
  std::fflush(stdout);
  if (times == 0) return 0;
  std::string left = std::to_string(times - 1);
  char* arguments[] = {argv[0], left.data(), nullptr};
  execv("/proc/self/exe", arguments);
  return 126;
}
