// SPDX-License-Identifier: Apache-2.0
// Libraries on top of the runtime: what a handle takes, and that it is given back.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/simcuda/libraries/cublas.h"
#include "tests/simcuda/libraries/cudnn.h"
#include "tests/simcuda/libraries/cufft.h"
#include "tests/simcuda/libraries/cusolver.h"
#include "tests/simcuda/libraries/cusparse.h"
#include "tests/simcuda/libraries/nccl.h"

namespace vramtrack::simcuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

const int environment = setenv("SIMCUDA_DEVICES", "2", 1) + setenv("SIMCUDA_MEMORY", "64M", 1);

size_t UsedBytes(int device = 0) {
  size_t free = 0, total = 0;
  int before = 0;
  EXPECT_EQ(cudaGetDevice(&before), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(before), cudaSuccess);
  return total - free;
}

// The device gives out pages of 2 MiB.
constexpr size_t Pages(size_t bytes) { return (bytes + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB; }

template <typename Handle, typename Create, typename Destroy>
void ExpectToTake(size_t bytes, Create create, Destroy destroy) {
  const size_t before = UsedBytes();
  Handle first, second;
  ASSERT_EQ(create(&first), 0);
  EXPECT_EQ(UsedBytes(), before + bytes);
  ASSERT_EQ(create(&second), 0);
  EXPECT_NE(first, second);
  // What is at most 1 MiB may share a page with the first.
  EXPECT_GE(UsedBytes(), before + bytes + (bytes > 2 * kMiB ? bytes - 2 * kMiB : 0));
  EXPECT_LE(UsedBytes(), before + 2 * bytes);
  EXPECT_EQ(destroy(first), 0);
  EXPECT_EQ(destroy(second), 0);
  EXPECT_EQ(UsedBytes(), before);
}

TEST(LibrariesTest, a_handle_takes_device_memory_until_it_is_destroyed) {
  const size_t lt = Pages(kCublasLtWorkspaceBytes);
  ExpectToTake<cublasLtHandle_t>(lt, cublasLtCreate, cublasLtDestroy);
  ExpectToTake<cublasHandle_t>(kCublasWorkspaceBytes + lt, cublasCreate_v2, cublasDestroy_v2);
  ExpectToTake<cudnnHandle_t>(kCudnnWorkspaceBytes, cudnnCreate, cudnnDestroy);
  ExpectToTake<cusolverDnHandle_t>(kCusolverWorkspaceBytes, cusolverDnCreate, cusolverDnDestroy);
  ExpectToTake<cusparseHandle_t>(Pages(kCusparseWorkspaceBytes), cusparseCreate, cusparseDestroy);
  ExpectToTake<ncclComm_t>(
      kNcclWorkspaceBytes, [](ncclComm_t* comm) { return ncclCommInitRank(comm, 1, ncclUniqueId{}, 0); },
      ncclCommDestroy);
}

TEST(LibrariesTest, nothing_is_left_of_a_handle_that_could_not_be_made) {
  void* rest = nullptr;
  ASSERT_EQ(cudaMalloc(&rest, 62 * kMiB), cudaSuccess);
  const size_t before = UsedBytes();
  cublasHandle_t handle = nullptr;
  EXPECT_EQ(cublasCreate_v2(&handle), 3);
  EXPECT_EQ(handle, nullptr);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 1, ncclUniqueId{}, 0), 1);
  cufftHandle plan = -1;
  EXPECT_EQ(cufftPlan1d(&plan, 1 << 20, kCufftC2C, 1), 2);
  EXPECT_EQ(plan, -1);
  EXPECT_EQ(UsedBytes(), before);
  ASSERT_EQ(cudaFree(rest), cudaSuccess);
}

TEST(LibrariesTest, a_plan_takes_memory_by_its_points) {
  const size_t before = UsedBytes();
  cufftHandle empty, line, square, cube, many;
  ASSERT_EQ(cufftCreate(&empty), 0);
  EXPECT_EQ(UsedBytes(), before);
  ASSERT_EQ(cufftPlan1d(&line, 1 << 18, kCufftC2C, 2), 0);
  EXPECT_EQ(UsedBytes(), before + 4 * kMiB);
  ASSERT_EQ(cufftPlan2d(&square, 512, 512, kCufftZ2Z), 0);
  EXPECT_EQ(UsedBytes(), before + 8 * kMiB);
  ASSERT_EQ(cufftPlan3d(&cube, 64, 64, 64, kCufftC2C), 0);
  EXPECT_EQ(UsedBytes(), before + 10 * kMiB);
  int sizes[] = {512, 512};
  ASSERT_EQ(cufftPlanMany(&many, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, kCufftC2C, 3), 0);
  EXPECT_EQ(UsedBytes(), before + 16 * kMiB);
  for (cufftHandle plan : {empty, line, square, cube, many}) EXPECT_EQ(cufftDestroy(plan), 0);
  EXPECT_EQ(cufftDestroy(line), 1);
  EXPECT_EQ(UsedBytes(), before);
  EXPECT_EQ(cufftPlan1d(&line, 0, kCufftC2C, 1), 4);
}

TEST(LibrariesTest, a_communicator_is_made_in_every_way) {
  const size_t before = UsedBytes(), other = UsedBytes(1);
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  ncclComm_t all[2], config, scalable, split, shrunk, none = all[0];
  ASSERT_EQ(ncclCommInitAll(all, 2, nullptr), 0);
  EXPECT_EQ(UsedBytes(), before + kNcclWorkspaceBytes);
  EXPECT_EQ(UsedBytes(1), other + kNcclWorkspaceBytes);
  ASSERT_EQ(ncclCommInitRankConfig(&config, 2, id, 1, nullptr), 0);
  ASSERT_EQ(ncclCommInitRankScalable(&scalable, 2, 1, 1, &id, nullptr), 0);
  ASSERT_EQ(ncclCommSplit(all[1], 0, 0, &split, nullptr), 0);
  ASSERT_EQ(ncclCommSplit(all[1], -1, 0, &none, nullptr), 0);
  EXPECT_EQ(none, nullptr);
  int excluded = 1;
  ASSERT_EQ(ncclCommShrink(all[0], &excluded, 1, &shrunk, nullptr, 0), 0);
  EXPECT_EQ(UsedBytes(), before + 4 * kNcclWorkspaceBytes);
  EXPECT_EQ(UsedBytes(1), other + 2 * kNcclWorkspaceBytes);
  EXPECT_EQ(ncclCommInitRank(&none, 2, id, 2), 4);
  ASSERT_EQ(ncclCommFinalize(config), 0);
  for (ncclComm_t comm : {all[0], all[1], config, scalable, split}) EXPECT_EQ(ncclCommDestroy(comm), 0);
  EXPECT_EQ(ncclCommAbort(shrunk), 0);
  EXPECT_EQ(UsedBytes(), before);
  EXPECT_EQ(UsedBytes(1), other);
  int device = -1;
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST(LibrariesTest, memory_of_nccl_is_mapped_memory) {
  const size_t before = UsedBytes();
  void* address = nullptr;
  ASSERT_EQ(ncclMemAlloc(&address, 3 * kMiB), 0);
  EXPECT_EQ(UsedBytes(), before + 4 * kMiB);
  EXPECT_EQ(cudaMemset(address, 1, 3 * kMiB), cudaSuccess);
  EXPECT_EQ(ncclMemFree(address), 0);
  EXPECT_EQ(ncclMemFree(address), 1);
  EXPECT_EQ(UsedBytes(), before);
  EXPECT_EQ(ncclMemAlloc(&address, 100 * kMiB), 1);
}

}  // namespace
}  // namespace vramtrack::simcuda
