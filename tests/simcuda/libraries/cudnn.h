// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUDNN_H_
#define TESTS_SIMCUDA_LIBRARIES_CUDNN_H_

// The part of cuDNN that is imitated: handles.
#include <cstddef>

extern "C" {

struct cudnnContext;
typedef cudnnContext* cudnnHandle_t;
// 0 success, 2000 invalid value, 4002 no device memory.
typedef int cudnnStatus_t;

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
}

namespace vramtrack::simcuda {

constexpr size_t kCudnnWorkspaceBytes = size_t{2} << 20;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUDNN_H_
