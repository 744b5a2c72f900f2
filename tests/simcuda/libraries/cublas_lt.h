// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUBLAS_LT_H_
#define TESTS_SIMCUDA_LIBRARIES_CUBLAS_LT_H_

// The part of cuBLASLt that is imitated: handles.
#include <cstddef>

extern "C" {

struct cublasLtContext;
typedef cublasLtContext* cublasLtHandle_t;
// 0 success, 1 not initialized, 3 no memory, 7 invalid value.
typedef int cublasStatus_t;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
}

namespace vramtrack::simcuda {

constexpr size_t kCublasLtWorkspaceBytes = size_t{1} << 20;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUBLAS_LT_H_
