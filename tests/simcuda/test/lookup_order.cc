// SPDX-License-Identifier: Apache-2.0
// Uses memory in the ways whose driver functions lookup_order_test.sh looks for.
#include <cuda_runtime_api.h>

int main() {
  void* memory = nullptr;
  return cudaMalloc(&memory, 4096) == cudaSuccess && cudaFree(memory) == cudaSuccess ? 0 : 1;
}
