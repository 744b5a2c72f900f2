// SPDX-License-Identifier: Apache-2.0
// SIMCUDA_BACKED=0: device memory is addresses only, so that a program as large as the device can run anywhere.
#include <cstring>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With backed("SIMCUDA_BACKED", "0");
const With memory("SIMCUDA_MEMORY", "1024G");

TEST(UnbackedTest, memory_takes_nothing_and_reads_as_zeros) {
  char* device = nullptr;
  ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&device), size_t{1000} << 30));
  ASSERT_CUDA(cudaMemset(device, 1, size_t{1000} << 30));
  char host[100];
  memset(host, 7, sizeof(host));
  ASSERT_CUDA(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  for (const char each : host) EXPECT_EQ(each, 0);
  EXPECT_EQ(cudaMemset(device, 1, (size_t{1000} << 30) + 1), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(device));
  void* pinned = nullptr;
  ASSERT_CUDA(cudaMallocHost(&pinned, 100));
  memset(pinned, 3, 100);
  ASSERT_CUDA(cudaMemcpy(host, pinned, 100, cudaMemcpyDefault));
  EXPECT_EQ(host[99], 3);
  ASSERT_CUDA(cudaFreeHost(pinned));
}

}  // namespace
}  // namespace vramtrack::simcuda
