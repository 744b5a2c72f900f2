// SPDX-License-Identifier: Apache-2.0
//
// Threads that allocate device memory and free it, and a line that leaks. Half of what is live at first is freed later:
// blocks that a tracer that joins does not know. One thread uses the last device, made current before, and asks for it.
#include <cuda_runtime_api.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/attach/programs/joined.h"

namespace {

void* Allocate(size_t bytes) {
  void* block = nullptr;
  Check(cudaMalloc(&block, bytes) == cudaSuccess && block != nullptr, "cudaMalloc");
  return block;
}

__attribute__((noinline)) void Leak() { Allocate(512); }

void Free(void* block) { Check(cudaFree(block) == cudaSuccess, "cudaFree"); }

}  // namespace

int main() {
  std::atomic<bool> ends{false};
  std::atomic<int> current{0};
  std::vector<void*> early;
  for (int i = 0; i < 100; ++i) early.push_back(Allocate(4096));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&ends, &current, i] {
      int device = 0;
      if (i == 0) {
        Check(cudaGetDeviceCount(&device) == cudaSuccess && cudaSetDevice(--device) == cudaSuccess, "cudaSetDevice");
      }
      ++current;
      while (!ends) {
        int now = -1;
        Check(cudaGetDevice(&now) == cudaSuccess && now == device, "cudaGetDevice", now);
        void* blocks[8];
        for (void*& block : blocks) block = Allocate(1000);
        for (void* block : blocks) Free(block);
      }
    });
  }
  while (current < 3) usleep(100);
  Ready();
  while (!Ended()) {
    for (int i = 0; i < 4; ++i) Free(Allocate(2000));
    Leak();
    usleep(200);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < early.size() / 2; ++i) Free(early[i]);
  return Fine();
}
