// SPDX-License-Identifier: Apache-2.0
//
// exit_among_threads exit|_exit|quick_exit|abort|return: one thread ends the process while others allocate.
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  static std::atomic<int> running{0};
  const std::string way = argv[1];
  for (int t = 0; t < 4; ++t) {
    std::thread([] {
      Pairs(1);
      ++running;
      // What they get once the device is gone is not this test's business.
      for (void* pointer = nullptr;; cudaFree(pointer)) cudaMalloc(&pointer, 4096);
    }).detach();
  }
  while (running < 4) usleep(100);
  usleep(3000);
  if (way == "return") return 3;
  std::thread([way] {
    if (way == "exit") std::exit(4);
    if (way == "_exit") _exit(5);
    if (way == "quick_exit") std::quick_exit(6);
    std::abort();
  }).join();
}
