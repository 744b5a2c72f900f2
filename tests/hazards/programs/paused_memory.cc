// SPDX-License-Identifier: Apache-2.0
//
// Lets a preloaded memory saver take all memory away and give it back, again and again.
#include <dlfcn.h>

#include <vector>

#include "tests/hazards/programs/device.h"

static size_t UsedMiB() {
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return (total - free) >> 20;
}

int main() {
  const auto pause = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "saver_pause"));
  const auto resume = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "saver_resume"));
  if (pause == nullptr || resume == nullptr) return 1;
  cudaFree(nullptr);
  std::vector<void*> kept;
  for (int i = 0; i < 20; ++i) kept.push_back(Take(4 << 20));
  for (int turn = 0; turn < 5; ++turn) {
    const size_t before = UsedMiB();
    const int paused = pause();
    const size_t between = UsedMiB();
    const int resumed = resume();
    std::printf("%zu %d %zu %d %zu\n", before, paused, between, resumed, UsedMiB());
  }
  for (int i = 0; i < 10; ++i) Give(kept[i]);
  std::printf("%zu\n", UsedMiB());
  return 0;
}
