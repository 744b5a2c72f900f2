// SPDX-License-Identifier: Apache-2.0
//
// event_storm THREADS PAIRS FORKS: threads allocate and free as fast as they can while the process forks children that
// call CUDA, too, and end. Prints how many calls of its own succeeded.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int, char** argv) {
  const int threads = std::atoi(argv[1]), forks = std::atoi(argv[3]);
  const uint64_t pairs = std::strtoull(argv[2], nullptr, 10);
  cudaFree(nullptr);  // from here on CUDA does not work in children
  std::atomic<uint64_t> calls{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      uint64_t mine = 0;
      for (uint64_t i = 0; i < pairs; ++i) {
        void* pointer = nullptr;
        mine += cudaMalloc(&pointer, 256 << i % 4) == cudaSuccess;
        mine += cudaFree(pointer) == cudaSuccess;
      }
      calls += mine;
    });
  }
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      void* pointer = nullptr;
      for (int k = 0; k < 100; ++k) cudaMalloc(&pointer, 512);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 3;
  }
  for (std::thread& worker : workers) worker.join();
  std::printf("%llu\n", static_cast<unsigned long long>(calls.load()));
  return 0;
}
