// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUBLAS_H_
#define TESTS_SIMCUDA_LIBRARIES_CUBLAS_H_

// The simulated part of cuBLAS: handles and their modes.
#include <cstddef>

#include "tests/simcuda/libraries/cublas_lt.h"

extern "C" {

struct cublasContext;
typedef cublasContext* cublasHandle_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, int mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, int* mode);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, int mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, int* mode);
const char* cublasGetStatusString(cublasStatus_t status);
}

namespace vramtrack::simcuda {

// The workspace of a handle. A handle also holds a cuBLASLt handle, which has its own workspace.
constexpr size_t kCublasWorkspaceBytes = size_t{8} << 20;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUBLAS_H_
