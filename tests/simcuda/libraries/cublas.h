// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUBLAS_H_
#define TESTS_SIMCUDA_LIBRARIES_CUBLAS_H_

// The part of cuBLAS that is imitated: handles.
#include <cstddef>

#include "tests/simcuda/libraries/cublas_lt.h"

extern "C" {

struct cublasContext;
typedef cublasContext* cublasHandle_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
}

namespace vramtrack::simcuda {

// Of its own; a handle holds one of cuBLASLt as well.
constexpr size_t kCublasWorkspaceBytes = size_t{8} << 20;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUBLAS_H_
