// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUSPARSE_H_
#define TESTS_SIMCUDA_LIBRARIES_CUSPARSE_H_

// The simulated part of cuSPARSE: handles, and the workspace sizes of its functions.
#include <cstddef>

extern "C" {

struct cusparseContext;
typedef cusparseContext* cusparseHandle_t;
// Values: 0 success, 1 not initialized, 2 no memory, 3 invalid value.
typedef int cusparseStatus_t;

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
}

namespace vramtrack::simcuda {

constexpr size_t kCusparseWorkspaceBytes = size_t{3} << 20;
// The result of every query for a buffer size, for every matrix.
constexpr size_t kCusparseBufferBytes = 4096;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUSPARSE_H_
