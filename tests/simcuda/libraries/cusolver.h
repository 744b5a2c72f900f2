// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_
#define TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_

// The part of cuSOLVER that is imitated: handles.
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

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUSOLVER_H_
