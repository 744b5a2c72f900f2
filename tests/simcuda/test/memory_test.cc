// SPDX-License-Identifier: Apache-2.0
// Allocation, copies, attributes and errors, as a program sees them through the runtime.
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With memory("SIMCUDA_MEMORY", "256M");

TEST(MemoryTest, the_device_is_the_configured_one) {
  int count = 0;
  ASSERT_CUDA(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 1);
  cudaDeviceProp properties;
  ASSERT_CUDA(cudaGetDeviceProperties(&properties, 0));
  EXPECT_STREQ(properties.name, "Simulated GPU");
  EXPECT_EQ(properties.totalGlobalMem, 256 * kMiB);
  EXPECT_EQ(properties.major, 8);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_EQ(properties.multiProcessorCount, 108);
  int version = 0;
  ASSERT_CUDA(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
}

TEST(MemoryTest, used_memory_is_counted_in_pages) {
  const size_t before = UsedBytes();
  void* large = nullptr;
  void* small = nullptr;
  ASSERT_CUDA(cudaMalloc(&large, 5 * kMiB));
  EXPECT_EQ(UsedBytes() - before, 6 * kMiB);
  ASSERT_CUDA(cudaMalloc(&small, 1));
  EXPECT_EQ(UsedBytes() - before, 8 * kMiB);
  ASSERT_CUDA(cudaFree(large));
  ASSERT_CUDA(cudaFree(small));
  EXPECT_EQ(UsedBytes(), before);
}

TEST(MemoryTest, runs_out_and_recovers) {
  std::vector<void*> blocks;
  void* block = nullptr;
  while (cudaMalloc(&block, 10 * kMiB) == cudaSuccess) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 25u);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  for (void* each : blocks) ASSERT_CUDA(cudaFree(each));
  ASSERT_CUDA(cudaMalloc(&block, 256 * kMiB));
  ASSERT_CUDA(cudaFree(block));
}

TEST(MemoryTest, the_last_error_stays_until_it_is_asked_for) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  int on_the_stack;
  EXPECT_EQ(cudaFree(&on_the_stack), cudaErrorInvalidValue);
  void* address = nullptr;
  ASSERT_CUDA(cudaMalloc(&address, 100));
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_CUDA(cudaFree(address));
  EXPECT_EQ(cudaFree(address), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(MemoryTest, nothing_is_given_for_nothing) {
  void* address = &address;
  ASSERT_CUDA(cudaMalloc(&address, 0));
  EXPECT_EQ(address, nullptr);
  ASSERT_CUDA(cudaFree(nullptr));
  ASSERT_CUDA(cudaFreeHost(nullptr));
}

TEST(MemoryTest, bytes_come_back_as_they_were_sent) {
  std::vector<char> sent(3 * kMiB), received(3 * kMiB);
  for (size_t index = 0; index < sent.size(); ++index) sent[index] = static_cast<char>(index * 7);
  char* first = nullptr;
  char* second = nullptr;
  ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&first), sent.size()));
  ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&second), sent.size()));
  ASSERT_CUDA(cudaMemcpy(first, sent.data(), sent.size(), cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemcpyAsync(second, first, sent.size(), cudaMemcpyDeviceToDevice, nullptr));
  ASSERT_CUDA(cudaMemcpy(received.data(), second, sent.size(), cudaMemcpyDefault));
  EXPECT_EQ(sent, received);
  ASSERT_CUDA(cudaMemset(second + 10, 9, 100));
  ASSERT_CUDA(cudaMemcpy(received.data(), second, sent.size(), cudaMemcpyDeviceToHost));
  EXPECT_EQ(received[9], sent[9]);
  EXPECT_EQ(received[10], 9);
  EXPECT_EQ(received[109], 9);
  EXPECT_EQ(received[110], sent[110]);
  ASSERT_CUDA(cudaFree(first));
  ASSERT_CUDA(cudaFree(second));
}

TEST(MemoryTest, copies_out_of_bounds_or_the_wrong_way_are_refused) {
  char host[5000] = {};
  char* device = nullptr;
  ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&device), 1024));
  EXPECT_EQ(cudaMemcpy(device, host, 1025, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device + 1000, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device, 0, 5000), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host + 2000, 100, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host + 2000, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device, 100, static_cast<cudaMemcpyKind>(77)), cudaErrorInvalidMemcpyDirection);
  ASSERT_CUDA(cudaFree(device));
  EXPECT_EQ(cudaMemcpy(host, device, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(MemoryTest, pitched_and_three_dimensional_memory_has_honest_sizes) {
  const size_t before = UsedBytes();
  void* address = nullptr;
  size_t pitch = 0;
  ASSERT_CUDA(cudaMallocPitch(&address, &pitch, 1000, 5000));
  EXPECT_EQ(pitch, 1024u);
  EXPECT_EQ(UsedBytes() - before, 6 * kMiB);  // 5,120,000 bytes
  std::vector<char> rows(1000 * 5000, 3), received(1000 * 5000);
  ASSERT_CUDA(cudaMemcpy2D(address, pitch, rows.data(), 1000, 1000, 5000, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemcpy2D(received.data(), 1000, address, pitch, 1000, 5000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(rows, received);
  EXPECT_EQ(cudaMemcpy2D(address, 10, rows.data(), 1000, 1000, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  ASSERT_CUDA(cudaFree(address));
  cudaPitchedPtr box;
  ASSERT_CUDA(cudaMalloc3D(&box, {100, 60, 70}));
  EXPECT_EQ(box.pitch, 512u);
  EXPECT_EQ(UsedBytes() - before, 4 * kMiB);  // 2,150,400 bytes
  ASSERT_CUDA(cudaMemset3D(box, 1, {100, 60, 70}));
  ASSERT_CUDA(cudaFree(box.ptr));
  EXPECT_EQ(UsedBytes(), before);
  cudaGetLastError();
}

TEST(MemoryTest, pinned_registered_and_managed_memory_is_known) {
  const size_t before = UsedBytes();
  void* pinned = nullptr;
  void* managed = nullptr;
  ASSERT_CUDA(cudaHostAlloc(&pinned, 10000, cudaHostAllocPortable));
  ASSERT_CUDA(cudaMallocManaged(&managed, 10000, cudaMemAttachGlobal));
  void* registered = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_CUDA(cudaHostRegister(registered, 8192, cudaHostRegisterDefault));
  EXPECT_EQ(cudaHostRegister(static_cast<char*>(registered) + 4096, 4096, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(UsedBytes(), before);
  memset(pinned, 1, 10000);
  memset(managed, 1, 10000);
  void* device = nullptr;
  ASSERT_CUDA(cudaMalloc(&device, 100));

  const auto type_of = [](const void* address) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, address), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type_of(static_cast<char*>(pinned) + 5), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(static_cast<char*>(registered) + 8191), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(static_cast<char*>(device) + 99), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(&device), cudaMemoryTypeUnregistered);
  unsigned flags = 0;
  ASSERT_CUDA(cudaHostGetFlags(&flags, pinned));
  EXPECT_EQ(flags, static_cast<unsigned>(cudaHostAllocPortable));

  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(registered), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(pinned), cudaErrorHostMemoryNotRegistered);
  ASSERT_CUDA(cudaFreeHost(pinned));
  ASSERT_CUDA(cudaFree(managed));
  ASSERT_CUDA(cudaHostUnregister(registered));
  ASSERT_CUDA(cudaFree(device));
  EXPECT_EQ(type_of(device), cudaMemoryTypeUnregistered);
  munmap(registered, 8192);
  cudaGetLastError();
}

TEST(MemoryTest, arrays_take_memory_and_hold_bytes) {
  const size_t before = UsedBytes();
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  ASSERT_CUDA(cudaMallocArray(&array, &floats, 1024, 1024, 0));
  EXPECT_EQ(UsedBytes() - before, 4 * kMiB);
  std::vector<float> sent(16, 1.5f), received(16);
  ASSERT_CUDA(cudaMemcpy2DToArray(array, 4 * sizeof(float), 3, sent.data(), 32, 32, 2, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemcpy2DFromArray(received.data(), 32, array, 4 * sizeof(float), 3, 32, 2, cudaMemcpyDeviceToHost));
  EXPECT_EQ(sent, received);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 1024, sent.data(), 32, 32, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaChannelFormatDesc description;
  cudaExtent extent;
  ASSERT_CUDA(cudaArrayGetInfo(&description, &extent, nullptr, array));
  EXPECT_EQ(description.x, 32);
  EXPECT_EQ(extent.height, 1024u);
  ASSERT_CUDA(cudaFreeArray(array));

  cudaMipmappedArray_t mipmapped = nullptr;
  ASSERT_CUDA(cudaMallocMipmappedArray(&mipmapped, &floats, {1024, 1024, 0}, 3, 0));
  EXPECT_EQ(UsedBytes() - before, 6 * kMiB);  // 4 MiB, 1 MiB and 256 KiB
  cudaArray_t level = nullptr;
  ASSERT_CUDA(cudaGetMipmappedArrayLevel(&level, mipmapped, 2));
  ASSERT_CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  EXPECT_EQ(extent.width, 256u);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmapped, 3), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFreeMipmappedArray(mipmapped));
  EXPECT_EQ(UsedBytes(), before);
  cudaGetLastError();
}

TEST(MemoryTest, a_handle_opens_the_memory_in_the_same_process) {
  void* address = nullptr;
  ASSERT_CUDA(cudaMalloc(&address, 1000));
  cudaIpcMemHandle_t handle;
  ASSERT_CUDA(cudaIpcGetMemHandle(&handle, address));
  void* opened = nullptr;
  ASSERT_CUDA(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_NE(opened, address);
  // Both are the same memory.
  const int sent = 42;
  int received = 0;
  ASSERT_CUDA(cudaMemcpy(opened, &sent, sizeof(sent), cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaMemcpy(&received, address, sizeof(received), cudaMemcpyDeviceToHost));
  EXPECT_EQ(received, sent);
  // Opened again, it is where it was, and to be closed as often.
  void* again = nullptr;
  ASSERT_CUDA(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_EQ(again, opened);
  ASSERT_CUDA(cudaIpcCloseMemHandle(again));
  ASSERT_CUDA(cudaIpcCloseMemHandle(opened));
  EXPECT_EQ(cudaIpcCloseMemHandle(opened), cudaErrorInvalidValue);
  ASSERT_CUDA(cudaFree(address));
  EXPECT_EQ(cudaIpcOpenMemHandle(&opened, handle, 0), cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace
}  // namespace vramtrack::simcuda
