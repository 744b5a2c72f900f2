// SPDX-License-Identifier: Apache-2.0
//
// Frees on another thread, on another stream, on another device, and by another function than the usual one.
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

namespace {

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(error));
  std::fflush(stdout);
  std::abort();
}

}  // namespace

int main() {
  // Each thread frees what the one before it took.
  std::vector<void*> taken;
  for (int t = 0; t < 10; ++t) {
    std::thread([&] {
      for (void* pointer : taken) Give(pointer);
      taken.clear();
      for (int i = 0; i < 100; ++i) taken.push_back(Take(512));
    }).join();
  }
  for (void* pointer : taken) Give(pointer);

  cudaStream_t a, b;
  Check(cudaStreamCreate(&a));
  Check(cudaStreamCreate(&b));
  for (int i = 0; i < 10; ++i) {
    void* pointer;
    Check(cudaMallocAsync(&pointer, 4096, a));
    Check(cudaFreeAsync(pointer, b));
    Check(cudaMallocAsync(&pointer, 4096, a));
    Check(cudaFree(pointer));
    Check(cudaMalloc(&pointer, 4096));
    Check(cudaFreeAsync(pointer, b));
  }
  Check(cudaStreamDestroy(a));
  Check(cudaStreamDestroy(b));

  for (int i = 0; i < 10; ++i) {
    Check(cudaSetDevice(0));
    void* pointer = Take(4096);
    Check(cudaSetDevice(1));
    Give(pointer);
  }
  std::puts("done");
  return 0;
}
