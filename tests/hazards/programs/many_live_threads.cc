// SPDX-License-Identifier: Apache-2.0
//
// many_live_threads COUNT: threads by the thousand, all alive at the same time.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  const int count = std::atoi(argv[1]);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      void* pointer = Take(512);
      ++ready;
      while (ready.load() < count) std::this_thread::yield();
      Give(pointer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::puts("done");
  return 0;
}
