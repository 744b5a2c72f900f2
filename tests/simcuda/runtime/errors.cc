// SPDX-License-Identifier: Apache-2.0
// Names of errors, and calls that are not simulated.
#include <cstdio>

#include "tests/simcuda/device/error_text.h"
#include "tests/simcuda/device/generated_tables.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  for (size_t index = 0; index < simcuda_error_count; ++index) {
    if (simcuda_errors[index].code == error) return simcuda_errors[index].name;
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  for (size_t index = 0; index < simcuda_error_count; ++index) {
    if (simcuda_errors[index].code == error) return ErrorText(error);
  }
  return "unrecognized error code";
}

__attribute__((visibility("hidden"))) int simcuda_unsupported(const char* name, char* said) {
  if (GetOptions().log_unsupported && __atomic_exchange_n(said, 1, __ATOMIC_RELAXED) == 0) {
    LogLine("%s is not supported", name);
  }
  return Done(cudaErrorNotSupported);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
