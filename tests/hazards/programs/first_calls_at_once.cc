// SPDX-License-Identifier: Apache-2.0
//
// first_calls_at_once PROCESSES: in each, threads that meet CUDA for the first time at the same moment.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  constexpr int kThreads = 8;
  for (int i = std::atoi(argv[1]); i > 0; --i) {
    const pid_t child = fork();
    if (child == 0) {
      static std::atomic<int> ready{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([] {
          ++ready;
          while (ready.load() < kThreads) std::this_thread::yield();
          Give(Take(512));
        });
      }
      for (std::thread& thread : threads) thread.join();
      std::exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  std::puts("done");
  return 0;
}
