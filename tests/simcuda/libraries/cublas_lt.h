// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUBLAS_LT_H_
#define TESTS_SIMCUDA_LIBRARIES_CUBLAS_LT_H_

// The simulated part of cuBLASLt: handles, and the queries before a multiplication.
#include <cstddef>
#include <cstdint>

extern "C" {

struct cublasLtContext;
typedef cublasLtContext* cublasLtHandle_t;
// Values: 0 success, 1 not initialized, 3 no memory, 7 invalid value.
typedef int cublasStatus_t;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);

// Has the same layout as in the header of cuBLASLt.
struct cublasLtMatmulHeuristicResult_t {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  cublasStatus_t state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96, "not the layout of cuBLASLt");

// Multiplications need descriptors, layouts, preferences and algorithms, whose contents are not read.
size_t cublasLtGetVersion();
cublasStatus_t cublasLtMatmulPreferenceCreate(void** preference);
cublasStatus_t cublasLtMatmulPreferenceDestroy(void* preference);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, size_t bytes);
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, void* operation, void* a, void* b, void* c,
                                              void* d, void* preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found);
}

namespace vramtrack::simcuda {

constexpr size_t kCublasLtWorkspaceBytes = size_t{1} << 20;
// The largest workspace that a multiplication requests from its caller.
constexpr size_t kCublasLtMatmulWorkspaceBytes = size_t{4} << 20;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUBLAS_LT_H_
