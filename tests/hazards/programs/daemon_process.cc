// SPDX-License-Identifier: Apache-2.0
//
// daemon_process before|after: becomes a daemon, in / and without a terminal, before or after its first CUDA call.
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  const std::string first_call = argv[1];
  if (first_call == "before") Pairs(10);
  if (daemon(/*nochdir=*/0, /*noclose=*/1) != 0) return 1;
  void* pointer = nullptr;
  std::printf("%d\n", cudaMalloc(&pointer, 4096));
  std::printf("%d\n", cudaFree(pointer));
  return 0;
}
