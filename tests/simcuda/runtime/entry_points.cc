// SPDX-License-Identifier: Apache-2.0
// Finding functions by name, the names of errors, and calls that are not simulated.
#include <cstdio>

#include "tests/simcuda/device/error_text.h"
#include "tests/simcuda/device/generated_tables.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

// The numbers of cudaDriverEntryPointQueryResult, which CUDA 11 lacks, are those of the driver.
cudaError_t Find(const char* symbol, void** function, unsigned version, unsigned long long flags, int* status) {
  if (symbol == nullptr || function == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Initialize());
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const CUresult result = DRIVER(cuGetProcAddress_v2)(symbol, function, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = found;
  return Done(result);
}

// A program with per-thread default streams means their functions unless it says otherwise.
unsigned long long PerThread(unsigned long long flags) {
  constexpr unsigned long long kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return flags == CU_GET_PROC_ADDRESS_DEFAULT ? kPerThread : flags;
}

#if CUDART_VERSION >= 12000
using Status = cudaDriverEntryPointQueryResult;
#endif

}  // namespace

extern "C" {

// The version is that of the headers which the program was compiled with, as far as the runtime knows.
#if CUDART_VERSION >= 12000
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, Status* status) {
  return Find(symbol, function, CUDART_VERSION, flags, reinterpret_cast<int*>(status));
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                         Status* status) {
  return cudaGetDriverEntryPoint(symbol, function, PerThread(flags), status);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags, Status* status) {
  return Find(symbol, function, version, flags, reinterpret_cast<int*>(status));
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned version,
                                                  unsigned long long flags, Status* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, version, PerThread(flags), status);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags) {
  int status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const cudaError_t error = Find(symbol, function, CUDART_VERSION, flags, &status);
  if (error != cudaSuccess) return error;
  return status == CU_GET_PROC_ADDRESS_SUCCESS ? cudaSuccess : Done(cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags) {
  return cudaGetDriverEntryPoint(symbol, function, PerThread(flags));
}
#endif

}  // extern "C"

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
