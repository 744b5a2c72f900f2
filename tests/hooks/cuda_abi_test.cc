// SPDX-License-Identifier: Apache-2.0
//
// The library's own idea of CUDA's binary interface, held against the real headers: a wrapper whose parameters differ
// from the function's in number, size or kind would hand on garbage.
// Makes cuda.h declare every function under the name that the driver exports, older forms too.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "interpose/hooks/table/cuda_abi.h"

// Names that the headers do not declare, with the declared name of the same signature.
#define cudaMallocAsync_ptsz cudaMallocAsync
#define cudaMallocFromPoolAsync_ptsz cudaMallocFromPoolAsync
#define cudaFreeAsync_ptsz cudaFreeAsync
#define cudaStreamEndCapture_ptsz cudaStreamEndCapture
#define cudaStreamIsCapturing_ptsz cudaStreamIsCapturing
#define cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo_v2_ptsz cudaStreamGetCaptureInfo_v2
#define cudaStreamGetCaptureInfo_v3_ptsz cudaStreamGetCaptureInfo_v3
#define cudaGraphInstantiateWithParams_ptsz cudaGraphInstantiateWithParams
#define cudaGetDriverEntryPointByVersion_ptsz cudaGetDriverEntryPointByVersion
#define cudaGetDriverEntryPoint_ptsz cudaGetDriverEntryPoint
#define cuGetProcAddress_ptsz cuGetProcAddress
#define cuGetProcAddress_v2_ptsz cuGetProcAddress_v2

// Names that only other releases have. tests/coverage looks at the headers of all of them.
extern "C" void not_in_this_release();
#if CUDART_VERSION >= 13000
#define cudaGetDeviceProperties_v2 cudaGetDeviceProperties
#define cudaGetDriverEntryPoint not_in_this_release
#define cudaGraphAddNode_v2 not_in_this_release
#define cudaStreamGetCaptureInfo_v2 not_in_this_release
#define cudaThreadExit not_in_this_release
#define cudaThreadSetLimit not_in_this_release
#define cuDevicePrimaryCtxRelease not_in_this_release
#define cuDevicePrimaryCtxReset not_in_this_release
#endif
#if CUDART_VERSION >= 13000 || CUDART_VERSION < 12030
#define cudaStreamGetCaptureInfo_v3 not_in_this_release
#endif
#if CUDART_VERSION >= 12000
#define cudaCreateTextureObject_v2 not_in_this_release
#endif
#if CUDART_VERSION < 13040
#define cuGraphAddNode_v3 not_in_this_release
#endif
#if CUDART_VERSION < 13010
#define cuMulticastBindMem_v2 not_in_this_release
#define cuMulticastBindAddr_v2 not_in_this_release
#endif
#if CUDART_VERSION < 13020
#define cudaGreenCtxCreate not_in_this_release
#define cudaExecutionCtxDestroy not_in_this_release
#define cudaExecutionCtxStreamCreate not_in_this_release
#endif

namespace vramtrack::cuda {
namespace {

template <typename A, typename B>
constexpr bool SameParameter() {
  return sizeof(A) == sizeof(B) && std::is_class_v<A> == std::is_class_v<B> &&
         std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_trivially_copyable_v<B>;
}

template <typename Result, typename... Real, typename... Ours>
constexpr bool Compatible(Result (*)(Real...), Error (*)(Ours...)) {
  if constexpr (std::is_void_v<Result>) {
    return false;
  } else if constexpr (sizeof...(Real) == sizeof...(Ours)) {
    static_assert(sizeof(Result) == sizeof(Error));
    return (SameParameter<Real, Ours>() && ...);
  } else {
    return false;
  }
}

// What the releases disagree on: the wrapper passes on as many parameters as any of them has.
constexpr bool Disagreed(std::string_view entry) {
  for (const std::string_view name :
       {"cudaGraphInstantiate", "cudaGraphAddNode", "cudaGetDriverEntryPoint", "cudaGetDriverEntryPoint_ptsz",
        "cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo_ptsz", "cudaStreamGetCaptureInfo_v2",
        "cudaStreamGetCaptureInfo_v2_ptsz", "cudaStreamGetCaptureInfo_v3", "cudaStreamGetCaptureInfo_v3_ptsz"}) {
    if (entry == name) return true;
  }
  return false;
}

#define VRAMTRACK_ENTRY(entry, parameters) CHECK_ENTRY(#entry, entry, parameters)
#define CHECK_ENTRY(name, entry, parameters)                                                         \
  if constexpr (!std::is_same_v<decltype(&::entry), decltype(&::not_in_this_release)>) {             \
    using Ours = Error(*) parameters;                                                                \
    constexpr bool compatible = Compatible(static_cast<decltype(&::entry)>(nullptr), Ours{nullptr}); \
    EXPECT_TRUE(compatible || Disagreed(name)) << name;                                              \
    ++compared;                                                                                      \
  }
#define VRAMTRACK_WITHOUT_LIBRARY_API
#define VRAMTRACK_WITHOUT_FRAMEWORK_API

TEST(CudaAbiTest, EveryWrapperTakesWhatTheFunctionTakes) {
  int compared = 0;
#include "interpose/hooks/table/api.inc"
  EXPECT_GT(compared, 150);
}

TEST(CudaAbiTest, StructuresLieAsInTheHeaders) {
  EXPECT_EQ(sizeof(Extent), sizeof(cudaExtent));
  EXPECT_EQ(offsetof(Extent, depth), offsetof(cudaExtent, depth));
  EXPECT_EQ(sizeof(PitchedPtr), sizeof(cudaPitchedPtr));
  EXPECT_EQ(offsetof(PitchedPtr, pitch), offsetof(cudaPitchedPtr, pitch));
  EXPECT_EQ(sizeof(ChannelFormatDesc), sizeof(cudaChannelFormatDesc));
  EXPECT_EQ(offsetof(ChannelFormatDesc, w), offsetof(cudaChannelFormatDesc, w));
  EXPECT_EQ(sizeof(IpcMemHandle), sizeof(cudaIpcMemHandle_t));
  EXPECT_EQ(sizeof(IpcMemHandle), sizeof(CUipcMemHandle));
  EXPECT_EQ(sizeof(IpcEventHandle), sizeof(cudaIpcEventHandle_t));
  EXPECT_EQ(sizeof(IpcEventHandle), sizeof(CUipcEventHandle));
  EXPECT_EQ(sizeof(ArrayDescriptor), sizeof(CUDA_ARRAY_DESCRIPTOR));
  EXPECT_EQ(offsetof(ArrayDescriptor, channels), offsetof(CUDA_ARRAY_DESCRIPTOR, NumChannels));
  EXPECT_EQ(sizeof(Array3DDescriptor), sizeof(CUDA_ARRAY3D_DESCRIPTOR));
  EXPECT_EQ(offsetof(Array3DDescriptor, channels), offsetof(CUDA_ARRAY3D_DESCRIPTOR, NumChannels));
  EXPECT_EQ(offsetof(AllocationProp, location), offsetof(CUmemAllocationProp, location));
  EXPECT_EQ(sizeof(MemPoolProps), sizeof(CUmemPoolProps));
  EXPECT_EQ(sizeof(MemPoolProps), sizeof(cudaMemPoolProps));
  EXPECT_EQ(offsetof(MemPoolProps, location), offsetof(CUmemPoolProps, location));
  EXPECT_EQ(offsetof(MemPoolProps, location), offsetof(cudaMemPoolProps, location));
  EXPECT_EQ(sizeof(MemAllocNodeParams), sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
  EXPECT_EQ(offsetof(MemAllocNodeParams, bytesize), offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize));
  EXPECT_EQ(offsetof(MemAllocNodeParams, dptr), offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr));
  EXPECT_EQ(offsetof(MemAllocNodeParams, dptr), offsetof(cudaMemAllocNodeParams, dptr));
#if CUDART_VERSION >= 12020
  EXPECT_EQ(offsetof(GraphNodeParams, alloc), offsetof(CUgraphNodeParams, alloc));
  EXPECT_EQ(offsetof(GraphNodeParams, free), offsetof(CUgraphNodeParams, free));
  EXPECT_EQ(offsetof(GraphNodeParams, alloc), offsetof(cudaGraphNodeParams, alloc));
#endif
  EXPECT_EQ(offsetof(ExternalMemoryHandleDesc, size), offsetof(cudaExternalMemoryHandleDesc, size));
  EXPECT_EQ(offsetof(ExternalMemoryBufferDesc, size), offsetof(cudaExternalMemoryBufferDesc, size));
  EXPECT_EQ(offsetof(ExternalMemoryBufferDesc, size), offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size));
  EXPECT_EQ(offsetof(DeviceProp, name), offsetof(cudaDeviceProp, name));
  EXPECT_EQ(offsetof(DeviceProp, totalGlobalMem), offsetof(cudaDeviceProp, totalGlobalMem));
}

TEST(CudaAbiTest, ErrorsHaveTheirNumbers) {
  EXPECT_EQ(kSuccess, cudaSuccess);
  EXPECT_EQ(kInitializationError, cudaErrorInitializationError);
  EXPECT_EQ(kInitializationError, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(kDeviceIntegrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
  EXPECT_EQ(kPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
  EXPECT_EQ(kMemAllocNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  EXPECT_EQ(kMemFreeNode, CU_GRAPH_NODE_TYPE_MEM_FREE);
}

}  // namespace
}  // namespace vramtrack::cuda
