// SPDX-License-Identifier: Apache-2.0
//
// A library that allocates device memory.
#include <cuda_runtime_api.h>

int allocate(void) {
  void* block = 0;
  return cudaMalloc(&block, 1000);
}
