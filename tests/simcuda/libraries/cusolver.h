// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_
#define TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_

// The part of cuSOLVER that is imitated: handles, and the sizes of what its functions work in, all
// ..._bufferSize that PyTorch uses.
#include <cstddef>

extern "C" {

struct cusolverDnContext;
typedef cusolverDnContext* cusolverDnHandle_t;
// 0 success, 1 not initialized, 2 no memory, 3 invalid value.
typedef int cusolverStatus_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
}

namespace vramtrack::simcuda {

constexpr size_t kCusolverWorkspaceBytes = size_t{4} << 20;
// What every ..._bufferSize answers, whatever the matrix: elements, or bytes of those whose names begin with X.
constexpr int kCusolverBufferElements = 1024;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_
