// SPDX-License-Identifier: Apache-2.0
//
// The grandchild works when its parent has ended.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hazards/programs/device.h"

int main() {
  int ended[2];
  if (pipe(ended) != 0) return 1;
  if (fork() == 0) {
    if (fork() == 0) {
      close(ended[1]);
      char end;
      if (read(ended[0], &end, 1) != 0) _exit(1);
      Pairs(20);
      std::puts("grandchild");
      return 0;
    }
    _exit(0);
  }
  int status = 0;
  wait(&status);
  Pairs(10);
  std::printf("child: %d\n", status);
  std::fflush(stdout);
  return 0;
}
