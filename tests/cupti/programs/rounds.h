// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CUPTI_PROGRAMS_ROUNDS_H_
#define TESTS_CUPTI_PROGRAMS_ROUNDS_H_

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// CUPTI's functions, as a program without its headers may declare them.
extern "C" {
using Request = void (*)(uint8_t**, size_t*, size_t*);
using Complete = void (*)(void*, uint32_t, uint8_t*, size_t, size_t);
int cuptiActivityRegisterCallbacks(Request, Complete);
int cuptiActivityEnable(uint32_t);
int cuptiActivityDisable(uint32_t);
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityGetNextRecord(uint8_t*, size_t, void**);
int cuptiSubscribe(void**, void*, void*);
int cuptiFinalize();
}

// Each allocates twice, fills once and frees once; 4 KiB stay.
inline void Rounds(int count) {
  for (int i = 0; i < count; ++i) {
    void* freed = nullptr;
    void* kept = nullptr;
    if (cudaMalloc(&freed, 8192) != cudaSuccess || cudaMalloc(&kept, 4096) != cudaSuccess ||
        cudaMemset(freed, 0, 8192) != cudaSuccess || cudaFree(freed) != cudaSuccess) {
      printf("an error\n");
      exit(1);
    }
  }
}

#endif  // TESTS_CUPTI_PROGRAMS_ROUNDS_H_
