// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/device.h"

#include <cstdio>

#include "testdata/transformer/cuda_api.h"
#include "testdata/transformer/cuda_error.h"

namespace transformer {

int SelectDevice(const char* program, int device, bool verbose) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "%s: no CUDA device (%s)\n", program,
                 cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error));
    return kExitNoDevice;
  }
  if (device >= devices) {
    std::fprintf(stderr, "%s: --device: there is no device %d, the last is %d\n", program, device, devices - 1);
    return kExitUsage;
  }
  CheckCuda(cudaSetDevice(device), "cudaSetDevice");
  cudaDeviceProp properties;
  CheckCuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  CheckCuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  if (verbose) {
    std::fprintf(stderr, "device %d: %s, %zu of %zu bytes free\n", device, properties.name, free_bytes, total_bytes);
  }
  return 0;
}

}  // namespace transformer
