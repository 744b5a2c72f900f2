// SPDX-License-Identifier: Apache-2.0
//
// growing_host STEPS BYTES PAIRS: keeps BYTES more of the host's memory after each step, with PAIRS allocations and
// frees on the device in it, beside 8 MiB that are there all the time. Asks for the device's properties and memory.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "vramtrack/vramtrack.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const unsigned long steps = std::strtoul(argv[1], nullptr, 10), bytes = std::strtoul(argv[2], nullptr, 10),
                      pairs = std::strtoul(argv[3], nullptr, 10);
  cudaDeviceProp properties;
  size_t free = 0, total = 0;
  void* parameters = nullptr;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || cudaMemGetInfo(&free, &total) != cudaSuccess) return 1;
  if (cudaMalloc(&parameters, 8 << 20) != cudaSuccess) return 1;
  for (unsigned long step = 0; step < steps; ++step) {
    if (void* kept = std::malloc(bytes)) std::memset(kept, 1, bytes);
    for (unsigned long pair = 0; pair < pairs; ++pair) {
      void* pointer = nullptr;
      if (cudaMalloc(&pointer, 4096) != cudaSuccess || cudaFree(pointer) != cudaSuccess) return 1;
    }
    usleep(4000);  // so that many steps have a reading
    VRAMTRACK_STEP(step, 0);
  }
}
