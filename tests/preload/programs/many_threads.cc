// SPDX-License-Identifier: Apache-2.0
//
// many_threads COUNT: threads that live for three calls each, and allocate once more while their thread-local objects
// go.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <thread>

namespace {

struct LastBreath {
  bool armed = false;
  ~LastBreath() {
    void* pointer = nullptr;
    if (armed && cudaMalloc(&pointer, 256) == cudaSuccess) cudaFree(pointer);
  }
};
thread_local LastBreath last_breath;

}  // namespace

int main(int, char** argv) {
  const int count = std::atoi(argv[1]);
  for (int i = 0; i < count; ++i) {
    std::thread([] {
      last_breath.armed = true;
      void* pointer = nullptr;
      if (cudaMalloc(&pointer, 4096) != cudaSuccess) std::abort();
      cudaFree(pointer);
    }).join();
  }
  return 0;
}
