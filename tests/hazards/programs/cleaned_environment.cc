// SPDX-License-Identifier: Apache-2.0
//
// Runs itself with nothing in the environment but where libraries are; the second time round there is no preload.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

int main(int argc, char** argv) {
  Pairs(10);
  if (argc > 1) {
    std::printf("child has %s LD_PRELOAD\n", getenv("LD_PRELOAD") != nullptr ? "a" : "no");
    return 0;
  }
  const std::string libraries = std::string("LD_LIBRARY_PATH=") + getenv("LD_LIBRARY_PATH");
  if (clearenv() != 0) return 1;
  if (fork() == 0) {
    char again[] = "again";
    char* arguments[] = {argv[0], again, nullptr};
    char* environment[] = {const_cast<char*>(libraries.c_str()), nullptr};
    execve("/proc/self/exe", arguments, environment);
    _exit(126);
  }
  int status = 0;
  wait(&status);
  Pairs(10);
  std::printf("%d\n", status);
  return 0;
}
