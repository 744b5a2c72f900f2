// SPDX-License-Identifier: Apache-2.0
// Asks whether device 0 shares its memory with the host, and keeps a block.
// usage: integrated properties|attribute|after|never: how it asks; after: by attribute, when it has allocated already.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int Attribute() {
  int value = 0;
  Check(cudaDeviceGetAttribute(&value, cudaDevAttrIntegrated, 0));
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  int integrated = -1;
  if (std::strcmp(way, "properties") == 0) {
    cudaDeviceProp properties;
    Check(cudaGetDeviceProperties(&properties, 0));
    integrated = properties.integrated;
  } else if (std::strcmp(way, "attribute") == 0) {
    integrated = Attribute();
  }
  void* block = nullptr;
  Check(cudaMalloc(&block, 1 << 20));
  if (std::strcmp(way, "after") == 0) integrated = Attribute();
  std::printf("%d\n", integrated);
  return 0;
}
