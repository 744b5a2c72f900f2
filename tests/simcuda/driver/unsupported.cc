// SPDX-License-Identifier: Apache-2.0
// Calls that are not simulated.
#include <cuda.h>

#include "tests/simcuda/device/log.h"

namespace vramtrack::simcuda {

extern "C" __attribute__((visibility("hidden"))) int simcuda_unsupported(const char* name, char* said) {
  if (GetOptions().log_unsupported && __atomic_exchange_n(said, 1, __ATOMIC_RELAXED) == 0) {
    LogLine("%s is not supported", name);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace vramtrack::simcuda
