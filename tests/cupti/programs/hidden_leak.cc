// SPDX-License-Identifier: Apache-2.0
//
// usage: hidden_leak STEPS BYTES [asks|rests]
// In each step the program allocates and frees, and a library takes BYTES past all hooks and keeps them, and takes and
// gives back 4 MiB more. "asks": in the middle it asks how much of the device is free. "rests": nothing is taken
// for the time of a step, and from the middle on nothing runs on the device.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vramtrack/vramtrack.h"

extern "C" void* TakeHidden(size_t bytes);
extern "C" void GiveHidden(void* address);

int main(int count, char** words) {
  const int steps = count > 1 ? atoi(words[1]) : 1;
  const auto bytes = static_cast<size_t>(count > 2 ? atoll(words[2]) : 0);
  const bool asks = count > 3 && strcmp(words[3], "asks") == 0;
  const bool rests = count > 3 && strcmp(words[3], "rests") == 0;
  void* kept = nullptr;
  if (cudaMalloc(&kept, 8 << 20) != cudaSuccess) return 1;
  for (int step = 0; step < steps; ++step) {
    void* batch = nullptr;
    if (cudaMalloc(&batch, 2 << 20) != cudaSuccess) return 1;
    if (!rests || step < steps / 2) cudaMemset(batch, 0, 2 << 20);
    void* scratch = rests ? nullptr : TakeHidden(4 << 20);
    if (bytes > 0 && TakeHidden(bytes) == nullptr) return 1;
    if (scratch != nullptr) GiveHidden(scratch);
    cudaFree(batch);
    size_t free_bytes, total;
    if (asks && step == steps / 2) cudaMemGetInfo(&free_bytes, &total);
    vramtrack_step(static_cast<uint64_t>(step), 0);
  }
  puts("done");
  return 0;
}
