// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_CURRENT_DEVICE_H_
#define TESTS_SIMCUDA_RUNTIME_CURRENT_DEVICE_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {

// Returns the device that calls of this thread use.
int ThreadDevice();

// Makes the primary context of `device` the current one of the thread.
cudaError_t MakeCurrent(int device);

bool IsPrimary(CUcontext context, int device);

// Call this after a reset of the device. The next call then retains the primary context again.
void ForgetContext(int device);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_CURRENT_DEVICE_H_
