// SPDX-License-Identifier: Apache-2.0
// The driver's virtual memory management, called directly.
#include <cuda.h>
#include <unistd.h>

#include <string>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With memory("SIMCUDA_MEMORY", "64M");

constexpr size_t kPage = 2 * kMiB;

CUmemAllocationProp OnDevice() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

CUmemAccessDesc ReadWrite() {
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return access;
}

class VirtualMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CUDA(cudaFree(nullptr));
    before_ = UsedBytes();
    ASSERT_EQ(cuMemAddressReserve(&range_, 8 * kPage, 0, 0, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuMemAddressFree(range_, 8 * kPage), CUDA_SUCCESS);
    EXPECT_EQ(UsedBytes(), before_);
  }

  CUmemGenericAllocationHandle Create(size_t bytes) {
    const CUmemAllocationProp properties = OnDevice();
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, bytes, &properties, 0), CUDA_SUCCESS);
    return handle;
  }

  size_t before_ = 0;
  CUdeviceptr range_ = 0;
};

TEST_F(VirtualMemoryTest, memory_is_taken_by_create_and_given_back_by_the_last_of_handle_and_mapping) {
  CUmemGenericAllocationHandle handle = Create(2 * kPage);
  EXPECT_EQ(UsedBytes() - before_, 2 * kPage);
  ASSERT_EQ(cuMemMap(range_, 2 * kPage, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(UsedBytes() - before_, 2 * kPage);
  EXPECT_EQ(cuMemUnmap(range_, kPage), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemUnmap(range_, 2 * kPage), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemoryTest, two_mappings_are_windows_on_the_same_bytes) {
  CUmemGenericAllocationHandle handle = Create(kPage);
  const CUmemAccessDesc access = ReadWrite();
  const CUdeviceptr second = range_ + 4 * kPage;
  for (const CUdeviceptr address : {range_, second}) {
    ASSERT_EQ(cuMemMap(address, kPage, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemSetAccess(address, kPage, &access, 1), CUDA_SUCCESS);
  }
  const int sent = 4711;
  int received = 0;
  ASSERT_EQ(cuMemcpyHtoD(range_ + 100, &sent, sizeof(sent)), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&received, second + 100, sizeof(sent)), CUDA_SUCCESS);
  EXPECT_EQ(received, sent);
  // The bytes stay with the memory, not with the address.
  ASSERT_EQ(cuMemUnmap(range_, kPage), CUDA_SUCCESS);
  ASSERT_EQ(cuMemUnmap(second, kPage), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(&received, range_ + 100, sizeof(sent)), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(range_, kPage, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(range_, kPage, &access, 1), CUDA_SUCCESS);
  received = 0;
  ASSERT_EQ(cuMemcpyDtoH(&received, range_ + 100, sizeof(sent)), CUDA_SUCCESS);
  EXPECT_EQ(received, sent);
  ASSERT_EQ(cuMemUnmap(range_, kPage), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, a_copy_may_span_mappings_but_not_gaps) {
  const CUmemAccessDesc access = ReadWrite();
  for (const size_t page : {0u, 1u, 3u}) {
    CUmemGenericAllocationHandle handle = Create(kPage);
    ASSERT_EQ(cuMemMap(range_ + page * kPage, kPage, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemSetAccess(range_ + page * kPage, kPage, &access, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuMemsetD8(range_, 1, 2 * kPage), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(range_, 1, 3 * kPage), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemUnmap(range_, 2 * kPage), CUDA_SUCCESS);
  ASSERT_EQ(cuMemUnmap(range_ + 3 * kPage, kPage), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, what_is_no_use_is_refused) {
  const CUmemAllocationProp properties = OnDevice();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemCreate(&handle, kPage + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, 33 * kPage, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  handle = Create(2 * kPage);
  EXPECT_EQ(cuMemMap(range_, 3 * kPage, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(range_ + 7 * kPage, 2 * kPage, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(range_, 2 * kPage, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(range_ + kPage, kPage, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(range_, 8 * kPage), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemUnmap(range_, 2 * kPage), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, fragments_of_memory_make_one_mapping) {
  // Every other page of the device is taken.
  void* blocks[32];
  for (void*& block : blocks) ASSERT_CUDA(cudaMalloc(&block, kPage));
  for (int index = 0; index < 32; index += 2) ASSERT_CUDA(cudaFree(blocks[index]));
  CUmemGenericAllocationHandle handle = Create(8 * kPage);
  const CUmemAccessDesc access = ReadWrite();
  ASSERT_EQ(cuMemMap(range_, 8 * kPage, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(range_, 8 * kPage, &access, 1), CUDA_SUCCESS);
  std::string sent(8 * kPage, 'x'), received(8 * kPage, '\0');
  sent[3 * kPage - 1] = 'y';
  ASSERT_EQ(cuMemcpyHtoD(range_, sent.data(), sent.size()), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(received.data(), range_, sent.size()), CUDA_SUCCESS);
  EXPECT_EQ(sent, received);
  ASSERT_EQ(cuMemUnmap(range_, 8 * kPage), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  for (int index = 1; index < 32; index += 2) ASSERT_CUDA(cudaFree(blocks[index]));
  cudaGetLastError();
}

TEST_F(VirtualMemoryTest, a_handle_can_be_exported_retained_and_asked) {
  CUmemGenericAllocationHandle handle = Create(kPage);
  int file = -1;
  ASSERT_EQ(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  close(file);
  ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(UsedBytes() - before_, kPage);
  ASSERT_EQ(cuMemMap(range_, kPage, 0, imported, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle retained = 0;
  ASSERT_EQ(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(range_ + 5)), CUDA_SUCCESS);
  CUmemAllocationProp properties;
  ASSERT_EQ(cuMemGetAllocationPropertiesFromHandle(&properties, retained), CUDA_SUCCESS);
  EXPECT_EQ(properties.location.id, 0);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuMemGetAddressRange(&base, &bytes, range_ + 5), CUDA_SUCCESS);
  EXPECT_EQ(base, range_);
  EXPECT_EQ(bytes, kPage);
  ASSERT_EQ(cuMemRelease(retained), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(imported), CUDA_SUCCESS);
  ASSERT_EQ(cuMemUnmap(range_, kPage), CUDA_SUCCESS);
}

}  // namespace
}  // namespace vramtrack::simcuda
