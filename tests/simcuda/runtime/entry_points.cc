// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

cudaError_t Find(const char* symbol, void** function, unsigned version, unsigned long long flags,
                 cudaDriverEntryPointQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Initialize());
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const CUresult result = DRIVER(cuGetProcAddress_v2)(symbol, function, static_cast<int>(version), flags, &found);
  // A name that is not there is an answer, not an error, when the caller asked for the status.
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  return result == CUDA_ERROR_NOT_FOUND && status != nullptr ? cudaSuccess : Done(result);
}

}  // namespace

extern "C" {

// The version is that of the headers which the program was compiled with, as far as the runtime knows.
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return Find(symbol, function, CUDART_VERSION, flags, status);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return Find(symbol, function, version, flags, status);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
