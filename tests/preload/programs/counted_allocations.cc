// SPDX-License-Identifier: Apache-2.0
//
// counted_allocations COUNTER THREADS PAIRS [KEEP]: each thread counts, in a file that is mapped, every call that
// returned; for finding out what a killed process had done. PAIRS 0: for ever. Every KEEPth (16th) allocation is kept.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const int threads = std::atoi(argv[2]);
  const uint64_t pairs = std::strtoull(argv[3], nullptr, 10);
  const uint64_t keep = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 16;
  const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 2;
  auto* calls = static_cast<std::atomic<uint64_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([=] {
      for (uint64_t i = 0; pairs == 0 || i < pairs; ++i) {
        void* pointer = nullptr;
        if (cudaMalloc(&pointer, 512 * (1 + i % 5)) != cudaSuccess) std::abort();
        calls[t].fetch_add(1);
        if (i % keep == keep - 1) continue;  // kept
        cudaFree(pointer);
        calls[t].fetch_add(1);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  return 0;
}
