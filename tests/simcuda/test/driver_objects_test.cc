// SPDX-License-Identifier: Apache-2.0
// What only the driver's interface has, or where it has more to give and to take than the runtime's.
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace vramtrack::simcuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kPage = 2 * kMiB;

const int environment = setenv("SIMCUDA_CONTEXT_MEMORY", "16M", 1);

#define ASSERT_CU(call) ASSERT_EQ(call, CUDA_SUCCESS)

size_t UsedBytes() {
  size_t free = 0, total = 0;
  EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  return total - free;
}

CUmemAllocationProp OnDevice() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

class DriverObjectsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CU(cuInit(0));
    ASSERT_CU(cuDevicePrimaryCtxRetain(&context_, 0));
    ASSERT_CU(cuCtxSetCurrent(context_));
    used_ = UsedBytes();
  }
  void TearDown() override {
    EXPECT_EQ(UsedBytes(), used_);
    ASSERT_CU(cuDevicePrimaryCtxRelease(0));
  }

  CUcontext context_ = nullptr;
  size_t used_ = 0;
};

template <typename Function>
Function* Symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

TEST_F(DriverObjectsTest, a_context_takes_memory_until_it_is_destroyed_once) {
  const auto create = Symbol<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  CUcontext created;
  ASSERT_CU(create(&created, 0, 0));
  EXPECT_EQ(UsedBytes(), used_ + 16 * kMiB);
  ASSERT_CU(cuCtxDestroy(created));
  EXPECT_EQ(cuCtxDestroy(created), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_CU(cuCtxSetCurrent(context_));
  // The older and newer ways.
  ASSERT_CU(Symbol<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate")(&created, 0, 0));
  ASSERT_CU(cuCtxDestroy(created));
  ASSERT_CU(Symbol<CUresult(CUcontext*, void*, int, unsigned, CUdevice)>("cuCtxCreate_v3")(&created, nullptr, 0, 0, 0));
  ASSERT_CU(cuCtxDestroy(created));
  ASSERT_CU(Symbol<CUresult(CUcontext*, void*, unsigned, CUdevice)>("cuCtxCreate_v4")(&created, nullptr, 0, 0));
  ASSERT_CU(cuCtxDestroy(created));
  ASSERT_CU(cuCtxSetCurrent(context_));
}

TEST_F(DriverObjectsTest, an_attached_context_is_detached_as_often) {
  const auto create = Symbol<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  const auto attach = Symbol<CUresult(CUcontext*, unsigned)>("cuCtxAttach");
  const auto detach = Symbol<CUresult(CUcontext)>("cuCtxDetach");
  CUcontext created, attached;
  ASSERT_CU(create(&created, 0, 0));
  ASSERT_CU(attach(&attached, 0));
  EXPECT_EQ(attached, created);
  ASSERT_CU(detach(created));
  EXPECT_EQ(UsedBytes(), used_ + 16 * kMiB);
  ASSERT_CU(detach(created));
  EXPECT_EQ(cuCtxDestroy(created), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_CU(cuCtxSetCurrent(context_));
}

TEST_F(DriverObjectsTest, external_memory_takes_the_descriptor_and_maps_buffers) {
  const int descriptor = open("/dev/null", O_RDWR);
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC description = {};
  description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  description.handle.fd = descriptor;
  description.size = 8 * kMiB;
  CUexternalMemory memory;
  ASSERT_CU(cuImportExternalMemory(&memory, &description));
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
  CUdeviceptr pointer;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {};
  buffer.offset = 4 * kMiB;
  buffer.size = 4 * kMiB;
  ASSERT_CU(cuExternalMemoryGetMappedBuffer(&pointer, memory, &buffer));
  EXPECT_EQ(UsedBytes(), used_ + 4 * kMiB);
  buffer.size += 1;
  CUdeviceptr none;
  EXPECT_EQ(cuExternalMemoryGetMappedBuffer(&none, memory, &buffer), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CU(cuMemFree(pointer));
  ASSERT_CU(cuDestroyExternalMemory(memory));
  EXPECT_EQ(cuDestroyExternalMemory(memory), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuImportExternalMemory(&memory, &description), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverObjectsTest, external_semaphores_are_signalled_and_waited_for) {
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description = {};
  description.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  description.handle.fd = open("/dev/null", O_RDWR);
  CUexternalSemaphore semaphore;
  ASSERT_CU(cuImportExternalSemaphore(&semaphore, &description));
  const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {};
  const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {};
  ASSERT_CU(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, nullptr));
  ASSERT_CU(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, nullptr));
  ASSERT_CU(cuDestroyExternalSemaphore(semaphore));
  EXPECT_EQ(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverObjectsTest, a_multicast_object_keeps_what_is_bound_to_it) {
  CUmulticastObjectProp properties = {};
  properties.numDevices = 1;
  properties.size = 2 * kPage;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle multicast, memory;
  ASSERT_CU(cuMulticastCreate(&multicast, &properties));
  ASSERT_CU(cuMulticastAddDevice(multicast, 0));
  EXPECT_EQ(UsedBytes(), used_);
  const CUmemAllocationProp on_device = OnDevice();
  ASSERT_CU(cuMemCreate(&memory, kPage, &on_device, 0));
  const auto bind = Symbol<CUresult(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t,
                                    unsigned long long)>("cuMulticastBindMem");
  ASSERT_CU(bind(multicast, kPage, memory, 0, kPage, 0));
  EXPECT_EQ(bind(multicast, 2 * kPage, memory, 0, kPage, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CU(cuMemRelease(memory));
  EXPECT_EQ(UsedBytes(), used_ + kPage);
  ASSERT_CU(cuMulticastUnbind(multicast, 0, kPage, kPage));
  EXPECT_EQ(UsedBytes(), used_);
  // Mapped and released like memory; what is still bound goes with it.
  ASSERT_CU(cuMemCreate(&memory, kPage, &on_device, 0));
  ASSERT_CU(bind(multicast, 0, memory, 0, kPage, 0));
  ASSERT_CU(cuMemRelease(memory));
  CUdeviceptr address;
  ASSERT_CU(cuMemAddressReserve(&address, 2 * kPage, 0, 0, 0));
  ASSERT_CU(cuMemMap(address, 2 * kPage, 0, multicast, 0));
  ASSERT_CU(cuMemRelease(multicast));
  EXPECT_EQ(UsedBytes(), used_ + kPage);
  ASSERT_CU(cuMemUnmap(address, 2 * kPage));
  EXPECT_EQ(UsedBytes(), used_);
  ASSERT_CU(cuMemAddressFree(address, 2 * kPage));
}

TEST_F(DriverObjectsTest, green_contexts_share_the_processors) {
  CUdevResource whole, groups[2], rest;
  ASSERT_CU(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
  unsigned count = 2;
  ASSERT_CU(cuDevSmResourceSplitByCount(groups, &count, &whole, &rest, 0, 16));
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(groups[0].sm.smCount + groups[1].sm.smCount + rest.sm.smCount, whole.sm.smCount);
  CUdevResourceDesc description;
  ASSERT_CU(cuDevResourceGenerateDesc(&description, groups, 1));
  CUgreenCtx green;
  ASSERT_CU(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  EXPECT_EQ(UsedBytes(), used_ + 16 * kMiB);
  CUcontext context;
  ASSERT_CU(cuCtxFromGreenCtx(&context, green));
  ASSERT_CU(cuCtxPushCurrent(context));
  CUdevResource part;
  ASSERT_CU(cuGreenCtxGetDevResource(green, &part, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(part.sm.smCount, groups[0].sm.smCount);
  CUstream stream;
  ASSERT_CU(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  CUgreenCtx of_stream;
  ASSERT_CU(cuStreamGetGreenCtx(stream, &of_stream));
  EXPECT_EQ(of_stream, green);
  ASSERT_CU(cuStreamDestroy(stream));
  ASSERT_CU(cuCtxPopCurrent(&context));
  ASSERT_CU(cuGreenCtxDestroy(green));
  EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(DriverObjectsTest, a_pool_is_shared_and_its_memory_has_a_second_address) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool, imported;
  ASSERT_CU(cuMemPoolCreate(&pool, &properties));
  int descriptor;
  ASSERT_CU(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_CU(cuMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{descriptor}),
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  close(descriptor);
  EXPECT_NE(imported, pool);
  CUdeviceptr pointer, second, none;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&none, kMiB, imported, nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CU(cuMemAllocFromPoolAsync(&pointer, kMiB, pool, nullptr));
  CUmemPoolPtrExportData data;
  ASSERT_CU(cuMemPoolExportPointer(&data, pointer));
  ASSERT_CU(cuMemPoolImportPointer(&second, imported, &data));
  EXPECT_NE(second, pointer);
  ASSERT_CU(cuMemsetD32(second, 42, 16));
  unsigned read = 0;
  ASSERT_CU(cuMemcpyDtoH(&read, pointer, sizeof(read)));
  EXPECT_EQ(read, 42u);
  ASSERT_CU(cuMemFreeAsync(second, nullptr));
  EXPECT_EQ(cuMemFreeAsync(second, nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_CU(cuMemFreeAsync(pointer, nullptr));
  ASSERT_CU(cuMemPoolDestroy(imported));
  ASSERT_CU(cuMemPoolDestroy(pool));
}

TEST_F(DriverObjectsTest, memory_lives_as_long_as_any_handle_or_mapping) {
  const CUmemAllocationProp properties = OnDevice();
  CUmemGenericAllocationHandle memory, retained, imported;
  ASSERT_CU(cuMemCreate(&memory, kPage, &properties, 0));
  CUdeviceptr address;
  ASSERT_CU(cuMemAddressReserve(&address, kPage, 0, 0, 0));
  ASSERT_CU(cuMemMap(address, kPage, 0, memory, 0));
  ASSERT_CU(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(address)));
  EXPECT_EQ(retained, memory);
  int descriptor;
  ASSERT_CU(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_CU(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{descriptor}),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(descriptor);
  for (CUmemGenericAllocationHandle handle : {memory, retained, imported}) ASSERT_CU(cuMemRelease(handle));
  EXPECT_EQ(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(UsedBytes(), used_ + kPage);
  ASSERT_CU(cuMemUnmap(address, kPage));
  EXPECT_EQ(UsedBytes(), used_);
  ASSERT_CU(cuMemAddressFree(address, kPage));
}

TEST_F(DriverObjectsTest, modules_and_libraries_are_unloaded_once) {
  CUmodule module;
  CUlibrary library;
  ASSERT_CU(cuModuleLoadData(&module, "code"));
  ASSERT_CU(cuLibraryLoadData(&library, "code", nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_CU(cuModuleUnload(module));
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_CU(cuLibraryUnload(library));
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverObjectsTest, the_oldest_graph_functions_are_there) {
  CUgraph graph;
  ASSERT_CU(cuGraphCreate(&graph, 0));
  for (const char* name : {"cuGraphInstantiate", "cuGraphInstantiate_v2"}) {
    CUgraphExec exec;
    CUgraphNode error_node = reinterpret_cast<CUgraphNode>(1);
    char log[8] = "unset";
    const auto instantiate = Symbol<CUresult(CUgraphExec*, CUgraph, CUgraphNode*, char*, size_t)>(name);
    ASSERT_CU(instantiate(&exec, graph, &error_node, log, sizeof(log)));
    EXPECT_EQ(error_node, nullptr);
    EXPECT_STREQ(log, "");
    ASSERT_CU(cuGraphExecDestroy(exec));
  }
  CUgraphNodeParams parameters = {};
  parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphNode node;
  const auto add =
      Symbol<CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, CUgraphNodeParams*)>("cuGraphAddNode");
  ASSERT_CU(add(&node, graph, nullptr, 0, &parameters));
  ASSERT_CU(cuGraphDestroy(graph));
}

}  // namespace
}  // namespace vramtrack::simcuda
