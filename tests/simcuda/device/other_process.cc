// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/other_process.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>

namespace vramtrack::simcuda {

int OpenFileOf(pid_t process, int file) {
  if (file < 0) return -1;
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/fd/%d", process, file);
  return open(path, O_RDWR | O_CLOEXEC);
}

bool Runs(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

}  // namespace vramtrack::simcuda
