// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_LAUNCH_H_
#define TESTDATA_TRANSFORMER_LAUNCH_H_

#include <cstdint>

#include "testdata/transformer/cuda_api.h"
#include "testdata/transformer/cuda_error.h"
#include "testdata/transformer/rehearsal.h"

// Runs kernels on the device or, in a host build, in a loop. A kernel is a functor that gets the number of its thread:
// `HOST_DEVICE void operator()(int64_t index) const`. No two threads write the same value and none waits for another,
// so a loop on the host computes the same.

#ifdef TRANSFORMER_HOST_BUILD
#define HOST_DEVICE
#else
#define HOST_DEVICE __host__ __device__
#endif

namespace transformer {

inline constexpr int kBlockSize = 128;

#ifndef TRANSFORMER_HOST_BUILD
template <typename Kernel>
__global__ void RunKernel(Kernel kernel, int64_t threads) {
  const int64_t index = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (index < threads) kernel(index);
}
#endif

// Runs `kernel` for 0 <= index < threads, in order with other work on the device. Does nothing in a rehearsal.
template <typename Kernel>
void Launch(int64_t threads, const Kernel& kernel, SourceLine where = SourceLine::Here()) {
  if (Rehearsal::Active() || threads == 0) return;
  const int64_t blocks = (threads + kBlockSize - 1) / kBlockSize;
#ifdef TRANSFORMER_HOST_BUILD
  (void)where;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t thread = 0; thread < kBlockSize; ++thread) {
      const int64_t index = block * kBlockSize + thread;
      if (index < threads) kernel(index);
    }
  }
#else
  // clang-format 14 splits `>>>` if nothing else in the file shows that it is C++11.
  // clang-format off
  RunKernel<<<static_cast<unsigned>(blocks), kBlockSize>>>(kernel, threads);
  // clang-format on
  CheckCuda(cudaGetLastError(), "kernel launch", where);
#endif
}

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_LAUNCH_H_
