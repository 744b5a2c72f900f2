// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With memory("SIMCUDA_MEMORY", "256M");

uint64_t Get(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  uint64_t value = 0;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), cudaSuccess);
  return value;
}

cudaMemPool_t DefaultPool() {
  cudaMemPool_t pool = nullptr;
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  return pool;
}

TEST(PoolsTest, the_default_pool_gives_memory_back_at_a_synchronization) {
  const size_t before = UsedBytes();
  void* address = nullptr;
  ASSERT_CUDA(cudaMallocAsync(&address, 10 * kMiB, nullptr));
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrUsedMemCurrent), 10 * kMiB);
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrReservedMemCurrent), 32 * kMiB);
  EXPECT_EQ(UsedBytes() - before, 32 * kMiB);
  ASSERT_CUDA(cudaFreeAsync(address, nullptr));
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(UsedBytes() - before, 32 * kMiB);
  ASSERT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(UsedBytes(), before);
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrUsedMemHigh), 10 * kMiB);
}

TEST(PoolsTest, a_threshold_keeps_memory_until_it_is_trimmed) {
  uint64_t threshold = UINT64_MAX;
  ASSERT_CUDA(cudaMemPoolSetAttribute(DefaultPool(), cudaMemPoolAttrReleaseThreshold, &threshold));
  void* address = nullptr;
  ASSERT_CUDA(cudaMallocAsync(&address, kMiB, nullptr));
  ASSERT_CUDA(cudaFreeAsync(address, nullptr));
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrReservedMemCurrent), 32 * kMiB);
  ASSERT_CUDA(cudaMemPoolTrimTo(DefaultPool(), 0));
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrReservedMemCurrent), 0u);
  threshold = 0;
  ASSERT_CUDA(cudaMemPoolSetAttribute(DefaultPool(), cudaMemPoolAttrReleaseThreshold, &threshold));
}

TEST(PoolsTest, a_pool_of_the_programs_own_lives_as_long_as_its_memory) {
  const size_t before = UsedBytes();
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  ASSERT_CUDA(cudaMemPoolCreate(&pool, &properties));
  void* address = nullptr;
  ASSERT_CUDA(cudaMallocFromPoolAsync(&address, 1000, pool, nullptr));
  EXPECT_EQ(Get(pool, cudaMemPoolAttrUsedMemCurrent), 1024u);
  EXPECT_EQ(Get(DefaultPool(), cudaMemPoolAttrUsedMemCurrent), 0u);
  ASSERT_CUDA(cudaMemPoolDestroy(pool));
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaMemset(address, 1, 1000));
  ASSERT_CUDA(cudaFreeAsync(address, nullptr));
  EXPECT_EQ(UsedBytes(), before);
  EXPECT_EQ(cudaMemPoolDestroy(DefaultPool()), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(PoolsTest, either_kind_of_memory_can_be_freed_either_way) {
  const size_t before = UsedBytes();
  void* ordered = nullptr;
  void* plain = nullptr;
  ASSERT_CUDA(cudaMallocAsync(&ordered, 1000, nullptr));
  ASSERT_CUDA(cudaMalloc(&plain, 1000));
  ASSERT_CUDA(cudaFree(ordered));
  ASSERT_CUDA(cudaFreeAsync(plain, nullptr));
  EXPECT_EQ(cudaFreeAsync(plain, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(ordered, nullptr), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(UsedBytes(), before);
  cudaGetLastError();
}

TEST(PoolsTest, memory_that_a_pool_keeps_is_no_reason_to_run_out) {
  uint64_t threshold = UINT64_MAX;
  ASSERT_CUDA(cudaMemPoolSetAttribute(DefaultPool(), cudaMemPoolAttrReleaseThreshold, &threshold));
  void* address = nullptr;
  ASSERT_CUDA(cudaMallocAsync(&address, 200 * kMiB, nullptr));
  ASSERT_CUDA(cudaFreeAsync(address, nullptr));
  ASSERT_CUDA(cudaDeviceSynchronize());
  ASSERT_CUDA(cudaMalloc(&address, 200 * kMiB));
  void* more = nullptr;
  EXPECT_EQ(cudaMallocAsync(&more, 100 * kMiB, nullptr), cudaErrorMemoryAllocation);
  ASSERT_CUDA(cudaFree(address));
  cudaGetLastError();
}

#if CUDART_VERSION >= 13000
TEST(PoolsTest, host_and_managed_memory_have_pools_too) {
  const size_t before = UsedBytes();
  const struct {
    cudaMemAllocationType type;
    cudaMemLocation location;
    cudaMemoryType memory;
  } kinds[] = {
      {cudaMemAllocationTypePinned, {cudaMemLocationTypeHost, {0}}, cudaMemoryTypeHost},
      {cudaMemAllocationTypeManaged, {cudaMemLocationTypeDevice, {0}}, cudaMemoryTypeManaged},
  };
  for (const auto& kind : kinds) {
    cudaMemLocation location = kind.location;
    cudaMemPool_t first = nullptr, same = nullptr, own = nullptr;
    ASSERT_CUDA(cudaMemGetDefaultMemPool(&first, &location, kind.type));
    ASSERT_CUDA(cudaMemGetMemPool(&same, &location, kind.type));
    EXPECT_EQ(same, first);
    EXPECT_EQ(cudaMemPoolDestroy(first), cudaErrorInvalidValue);
    cudaMemPoolProps properties = {};
    properties.allocType = kind.type;
    properties.location = location;
    ASSERT_CUDA(cudaMemPoolCreate(&own, &properties));
    ASSERT_CUDA(cudaMemSetMemPool(&location, kind.type, own));
    ASSERT_CUDA(cudaMemGetMemPool(&same, &location, kind.type));
    EXPECT_EQ(same, own);

    void *address = nullptr, *kept = nullptr;
    ASSERT_CUDA(cudaMallocFromPoolAsync(&address, 1000, own, nullptr));
    ASSERT_CUDA(cudaMallocFromPoolAsync(&kept, 1000, own, nullptr));
    EXPECT_EQ(Get(own, cudaMemPoolAttrUsedMemCurrent), 2000u);
    EXPECT_EQ(Get(first, cudaMemPoolAttrUsedMemCurrent), 0u);
    static_cast<char*>(address)[999] = 1;
    cudaPointerAttributes attributes;
    ASSERT_CUDA(cudaPointerGetAttributes(&attributes, address));
    EXPECT_EQ(attributes.type, kind.memory);
    EXPECT_EQ(cudaFreeHost(address), cudaErrorInvalidValue);
    ASSERT_CUDA(cudaFreeAsync(address, nullptr));
    EXPECT_EQ(cudaFreeAsync(address, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(Get(own, cudaMemPoolAttrUsedMemCurrent), 1000u);
    // As with those of a device, what is still held stays.
    ASSERT_CUDA(cudaMemPoolDestroy(own));
    ASSERT_CUDA(cudaMemGetMemPool(&same, &location, kind.type));
    EXPECT_EQ(same, first);
    static_cast<char*>(kept)[999] = 1;
    ASSERT_CUDA(cudaFree(kept));
  }
  EXPECT_EQ(UsedBytes(), before);
  cudaGetLastError();
}
#endif

}  // namespace
}  // namespace vramtrack::simcuda
