// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_SUBMIT_H_
#define TESTS_SIMCUDA_DRIVER_SUBMIT_H_

#include <cuda.h>

#include <utility>

#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {

// Runs `work`, which returns whether it succeeded, on `stream`. If the stream is being captured, adds `work` to the
// graph as a node instead.
template <typename Work>
CUresult Submit(CUstream stream, CUgraphNodeType type, Work work) {
  Stream* resolved;
  SIMCUDA_TRY(CurrentStream(stream, &resolved));
  if (__builtin_expect(resolved->IsCapturing(), 0)) {
    return CaptureNode(resolved, type, [work] { return work() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
  }
  return work() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_SUBMIT_H_
