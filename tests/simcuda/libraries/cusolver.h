// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_
#define TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_

// The simulated part of cuSOLVER: handles, and all functions ..._bufferSize that PyTorch uses, which return the size of
// a workspace.
#include <cstddef>

extern "C" {

struct cusolverDnContext;
typedef cusolverDnContext* cusolverDnHandle_t;
// Values: 0 success, 1 not initialized, 2 no memory, 3 invalid value.
typedef int cusolverStatus_t;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
}

namespace vramtrack::simcuda {

constexpr size_t kCusolverWorkspaceBytes = size_t{4} << 20;
// The result of every ..._bufferSize for every matrix: elements, or bytes for the functions whose names begin with X.
constexpr int kCusolverBufferElements = 1024;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_
