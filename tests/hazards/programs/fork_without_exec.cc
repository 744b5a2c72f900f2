// SPDX-License-Identifier: Apache-2.0
//
// Children that are the same program: forked before the first CUDA call and after it; ended normally and by _exit; with
// and without CUDA calls of their own.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hazards/programs/device.h"

namespace {

template <typename Body>
void InChild(const char* what, Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%s: %d\n", what, status);
}

void ShowRefusal() {
  void* pointer = nullptr;
  std::printf("refused: %d\n", cudaMalloc(&pointer, 4096));
}

}  // namespace

int main() {
  InChild("before", [] { Pairs(10); });
  Pairs(100);
  void* inherited = Take(1 << 20);
  InChild("silent", [] {});
  InChild("silent, _exit", [] { _exit(3); });
  InChild("after", ShowRefusal);
  InChild("after, _exit", [] {
    ShowRefusal();
    std::fflush(stdout);
    _exit(4);
  });
  InChild("frees what it inherited", [inherited] { std::printf("refused: %d\n", cudaFree(inherited)); });
  InChild("grandchild", [] { InChild("of a child", ShowRefusal); });
  Give(inherited);
  return 0;
}
