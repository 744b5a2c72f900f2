// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_CURRENT_DEVICE_H_
#define TESTS_SIMCUDA_RUNTIME_CURRENT_DEVICE_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {

// The device that calls of this thread go to.
int ThreadDevice();

// Makes the primary context of `device` the thread's.
cudaError_t MakeCurrent(int device);

bool IsPrimary(CUcontext context, int device);

// After a reset: the next call makes the context anew.
void ForgetContext(int device);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_CURRENT_DEVICE_H_
