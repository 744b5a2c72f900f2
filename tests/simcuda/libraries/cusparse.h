// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUSPARSE_H_
#define TESTS_SIMCUDA_LIBRARIES_CUSPARSE_H_

// The part of cuSPARSE that is imitated: handles, and the sizes of what its functions work in.
#include <cstddef>

extern "C" {

struct cusparseContext;
typedef cusparseContext* cusparseHandle_t;
// 0 success, 1 not initialized, 2 no memory, 3 invalid value.
typedef int cusparseStatus_t;

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
}

namespace vramtrack::simcuda {

constexpr size_t kCusparseWorkspaceBytes = size_t{3} << 20;
// What every query for the size of a buffer answers, whatever the matrix.
constexpr size_t kCusparseBufferBytes = 4096;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUSPARSE_H_
