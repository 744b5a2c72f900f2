// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder do with the device. For C and C++.
#ifndef TESTS_HAZARDS_PROGRAMS_DEVICE_H_
#define TESTS_HAZARDS_PROGRAMS_DEVICE_H_

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <cstdio>
#include <cstdlib>
#endif

// Allocates, or ends the program.
static inline void* Take(size_t bytes) {
  void* pointer = NULL;
  const cudaError_t error = cudaMalloc(&pointer, bytes);
  if (error == cudaSuccess) return pointer;
  printf("cudaMalloc: %d\n", (int)error);
  fflush(stdout);
  abort();
}

static inline void Give(void* pointer) {
  const cudaError_t error = cudaFree(pointer);
  if (error == cudaSuccess) return;
  printf("cudaFree: %d\n", (int)error);
  fflush(stdout);
  abort();
}

// Allocates and frees, `count` times.
static inline void Pairs(int count) {
  for (int i = 0; i < count; ++i) Give(Take(4096));
}

// Allocates and frees once, below a stack of `depth` frames that the bits of `path` choose.
static __attribute__((noinline, unused)) void Varied(unsigned path, int depth) {
  if (depth == 0) {
    Pairs(1);
    return;
  }
  if (path & 1) {
    Varied(path >> 1, depth - 1);
  } else {
    Varied(path >> 1, depth - 1);
    __asm__ volatile("nop");
  }
  __asm__ volatile("");
}

#endif  // TESTS_HAZARDS_PROGRAMS_DEVICE_H_
