// SPDX-License-Identifier: Apache-2.0
//
// fork_storm ROUNDS: forks from a thread while others allocate from ever new stacks. Each child calls CUDA, throws,
// goes through the loaded libraries, and is killed after a while if it hangs.
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

namespace {

[[noreturn]] void Child() {
  alarm(20);
  int caught = 0;
  void* pointer = nullptr;
  for (int i = 0; i < 3; ++i) {
    if (cudaMalloc(&pointer, 4096) == cudaSuccess) _exit(2);
    try {
      throw std::runtime_error("in a child");
    } catch (const std::exception&) {
      ++caught;
    }
  }
  dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return 0; }, nullptr);
  _exit(caught);
}

}  // namespace

int main(int, char** argv) {
  const int rounds = std::atoi(argv[1]);
  Pairs(1);
  std::atomic<bool> done{false};
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < 3; ++t) {
    workers.emplace_back([&done, t] {
      for (unsigned i = 0; !done.load(); ++i) {
        Varied(t + 3 * i, 16);
        // A thread that has seen no code yet asks the loader about all of it.
        if (i % 8 == 0) std::thread([i] { Varied(i, 4); }).join();
      }
    });
  }
  int wrong = 0;
  std::thread forker([&] {
    for (int i = 0; i < rounds; ++i) {
      const pid_t child = fork();
      if (child == 0) Child();
      int status = 0;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) {
        std::printf("child %d: %d\n", i, status);
        ++wrong;
      }
    }
    done = true;
  });
  forker.join();
  for (std::thread& worker : workers) worker.join();
  std::printf("%d wrong\n", wrong);
  return 0;
}
