// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_TEST_EXPECT_H_
#define TESTS_SIMCUDA_TEST_EXPECT_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

// Checks a runtime call and ends the test if it fails, because later calls would fail as well.
#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

namespace vramtrack::simcuda {

constexpr size_t kMiB = size_t{1} << 20;

// Sets an environment variable before the first use of a device reads it. For use as a constant in a namespace.
struct With {
  With(const char* name, const char* value) { setenv(name, value, 1); }
};

inline size_t UsedBytes() {
  size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return total - free;
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_TEST_EXPECT_H_
