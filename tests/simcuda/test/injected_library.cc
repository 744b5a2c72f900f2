// SPDX-License-Identifier: Apache-2.0
// What CUDA_INJECTION64_PATH may name.
#include <cuda.h>

extern "C" {

int injected_calls = 0;
// Answers of the driver inside the call.
CUresult injected_init = CUDA_ERROR_UNKNOWN, injected_count = CUDA_ERROR_UNKNOWN;

int InitializeInjection() {
  ++injected_calls;
  int devices;
  injected_init = cuInit(0);
  injected_count = cuDeviceGetCount(&devices);
  return 1;
}
}
