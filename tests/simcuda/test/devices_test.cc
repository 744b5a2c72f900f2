// SPDX-License-Identifier: Apache-2.0
// Several devices, contexts, reset, fork, threads.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With devices("SIMCUDA_DEVICES", "2");
const With memory("SIMCUDA_MEMORY", "128M");
const With context("SIMCUDA_CONTEXT_MEMORY", "6M");
const With capability("SIMCUDA_COMPUTE_CAPABILITY", "9.0");

TEST(DevicesTest, each_device_has_its_own_memory) {
  int count = 0;
  ASSERT_CUDA(cudaGetDeviceCount(&count));
  ASSERT_EQ(count, 2);
  int major = 0;
  ASSERT_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 1));
  EXPECT_EQ(major, 9);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  void* addresses[2];
  for (int device = 0; device < 2; ++device) {
    ASSERT_CUDA(cudaSetDevice(device));
    EXPECT_EQ(UsedBytes(), 6 * kMiB);
    ASSERT_CUDA(cudaMalloc(&addresses[device], 100 * kMiB));
    EXPECT_EQ(UsedBytes(), 106 * kMiB);
    cudaPointerAttributes attributes;
    ASSERT_CUDA(cudaPointerGetAttributes(&attributes, addresses[device]));
    EXPECT_EQ(attributes.device, device);
  }
  int can = 0;
  ASSERT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  ASSERT_CUDA(cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  ASSERT_CUDA(cudaMemset(addresses[0], 5, 100));
  ASSERT_CUDA(cudaMemcpyPeer(addresses[1], 1, addresses[0], 0, 100));
  char received = 0;
  ASSERT_CUDA(cudaMemcpy(&received, addresses[1], 1, cudaMemcpyDeviceToHost));
  EXPECT_EQ(received, 5);
  // Freed while the other device is the current one.
  ASSERT_CUDA(cudaFree(addresses[0]));
  ASSERT_CUDA(cudaFree(addresses[1]));
  ASSERT_CUDA(cudaSetDevice(0));
  EXPECT_EQ(UsedBytes(), 6 * kMiB);
  cudaGetLastError();
}

TEST(DevicesTest, a_reset_gives_all_memory_of_the_device_back) {
  ASSERT_CUDA(cudaSetDevice(0));
  void* small = nullptr;
  void* large = nullptr;
  void* pooled = nullptr;
  void* pinned = nullptr;
  ASSERT_CUDA(cudaMalloc(&small, 100));
  ASSERT_CUDA(cudaMalloc(&large, 10 * kMiB));
  ASSERT_CUDA(cudaMallocAsync(&pooled, 100, nullptr));
  ASSERT_CUDA(cudaMallocHost(&pinned, 100));
  EXPECT_EQ(UsedBytes(), (6 + 2 + 10 + 32) * kMiB);
  ASSERT_CUDA(cudaDeviceReset());
  EXPECT_EQ(UsedBytes(), 6 * kMiB);
  EXPECT_EQ(cudaFree(small), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(large), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pooled), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaMalloc(&large, 120 * kMiB));
  ASSERT_CUDA(cudaFree(large));
  cudaGetLastError();
}

TEST(DevicesTest, the_driver_and_the_runtime_share_the_primary_context) {
  ASSERT_CUDA(cudaSetDevice(1));
  CUcontext current = nullptr, primary = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 1), CUDA_SUCCESS);
  EXPECT_EQ(current, primary);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cuMemAlloc(&pointer, 1000), CUDA_SUCCESS);
  ASSERT_CUDA(cudaFree(reinterpret_cast<void*>(pointer)));
  // What the driver makes current is where the runtime goes.
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  int device = -1;
  ASSERT_CUDA(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  ASSERT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
  ASSERT_CUDA(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  ASSERT_CUDA(cudaSetDevice(0));
}

TEST(DevicesTest, errors_and_the_current_device_belong_to_a_thread) {
  ASSERT_CUDA(cudaSetDevice(1));
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  std::thread([] {
    int device = -1;
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0);
  }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  ASSERT_CUDA(cudaSetDevice(0));
}

TEST(DevicesTest, sixteen_threads_allocate_at_the_same_time) {
  const size_t before = UsedBytes();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int number = 0; number < 16; ++number) {
    threads.emplace_back([&failures, number] {
      failures += cudaSetDevice(number % 2) != cudaSuccess;
      for (size_t step = 1; step < 2000; ++step) {
        void* plain = nullptr;
        void* ordered = nullptr;
        failures += cudaMalloc(&plain, step * 13) != cudaSuccess;
        failures += cudaMallocAsync(&ordered, step * 7, cudaStreamPerThread) != cudaSuccess;
        failures += cudaFreeAsync(ordered, cudaStreamPerThread) != cudaSuccess;
        failures += cudaFree(plain) != cudaSuccess;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(UsedBytes(), before);
}

TEST(DevicesTest, nothing_works_in_a_forked_child) {
  ASSERT_CUDA(cudaFree(nullptr));
  const pid_t child = fork();
  if (child == 0) {
    void* address = nullptr;
    _exit(cudaMalloc(&address, 100) == cudaErrorInitializationError ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  void* address = nullptr;
  ASSERT_CUDA(cudaMalloc(&address, 100));
  ASSERT_CUDA(cudaFree(address));
}

}  // namespace
}  // namespace vramtrack::simcuda
