// SPDX-License-Identifier: Apache-2.0
// A C program that allocates eleven of its own frames deep, on two threads one after the other, and keeps a block of
// each.
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 11
#define BLOCKS 20

static void* blocks[BLOCKS];

// Not inlined, and no tail call, or the stack would not hold it.
__attribute__((noinline)) static int AllocateAtDepth(int depth, int block) {
  int result = depth > 1 ? AllocateAtDepth(depth - 1, block) : (int)cudaMalloc(&blocks[block], 4096 * (block + 1));
  __asm__ volatile("" ::: "memory");
  return result;
}

static void* Work(void* unused) {
  (void)unused;
  for (int i = 0; i < BLOCKS; ++i) {
    if (AllocateAtDepth(DEPTH, i) != cudaSuccess) abort();
  }
  for (int i = 1; i < BLOCKS; ++i) {
    if (cudaFree(blocks[i]) != cudaSuccess) abort();
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, Work, NULL) != 0 || pthread_join(thread, NULL) != 0) abort();
  }
  puts("done");
  return 0;
}
