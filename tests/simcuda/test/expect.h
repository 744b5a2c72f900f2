// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_TEST_EXPECT_H_
#define TESTS_SIMCUDA_TEST_EXPECT_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

// The first failing call of a test is the one to look at.
#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

namespace vramtrack::simcuda {

constexpr size_t kMiB = size_t{1} << 20;

// Sets a variable before the device reads it, at its first use. For a namespace-scope constant.
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
