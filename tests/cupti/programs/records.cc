// SPDX-License-Identifier: Apache-2.0
//
// usage: records COUNT [own]
// Fills of one byte, COUNT of them, each of which is a record of CUPTI's where fills are asked for. Prints the
// processor time of this thread for each, in ns. "own": it takes the records itself, as cheaply as can be.
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern "C" int cuptiActivityRegisterCallbacks(void (*)(uint8_t**, size_t*, size_t*),
                                              void (*)(void*, uint32_t, uint8_t*, size_t, size_t));
extern "C" int cuptiActivityEnable(int);

namespace {

constexpr size_t kBytes = 256 << 10;
uint8_t* buffer;

double Seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int count, char** words) {
  const int records = count > 1 ? atoi(words[1]) : 1000000;
  void* memory = nullptr;
  if (cudaMalloc(&memory, 4096) != cudaSuccess) return 1;
  if (count > 2 && strcmp(words[2], "own") == 0) {
    buffer = static_cast<uint8_t*>(aligned_alloc(64, kBytes));
    memset(buffer, 0, kBytes);
    cuptiActivityRegisterCallbacks(
        [](uint8_t** to, size_t* bytes, size_t* most) { *to = buffer, *bytes = kBytes, *most = 0; },
        [](void*, uint32_t, uint8_t*, size_t, size_t) {});
    cuptiActivityEnable(2);  // CUPTI_ACTIVITY_KIND_MEMSET
  }
  for (int i = 0; i < 1000; ++i) cudaMemset(memory, 0, 1);
  const double start = Seconds();
  for (int i = 0; i < records; ++i) cudaMemset(memory, 0, 1);
  printf("%.1f\n", 1e9 * (Seconds() - start) / records);
  return 0;
}
