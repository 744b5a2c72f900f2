// SPDX-License-Identifier: Apache-2.0
// Prints the name of the first device and how many there are.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  cudaDeviceProp properties;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    fprintf(stderr, "no device: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  printf("%s, %d devices\n", properties.name, count);
  return 0;
}
