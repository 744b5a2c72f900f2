// SPDX-License-Identifier: Apache-2.0
//
// The library's own idea of CUDA's binary interface, held against the real headers: a wrapper whose parameters differ
// from the function's in number, size or kind would hand on garbage.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "interpose/hooks/cuda_abi.h"

// Names that the headers do not declare, with the declared name of the same signature.
#define cudaMallocAsync_ptsz cudaMallocAsync
#define cudaMallocFromPoolAsync_ptsz cudaMallocFromPoolAsync
#define cudaFreeAsync_ptsz cudaFreeAsync
#define cudaStreamEndCapture_ptsz cudaStreamEndCapture
#define cudaGraphInstantiateWithParams_ptsz cudaGraphInstantiateWithParams
#if CUDART_VERSION >= 13000
#define cudaGetDeviceProperties_v2 cudaGetDeviceProperties
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
  static_assert(sizeof(Result) == sizeof(Error));
  if constexpr (sizeof...(Real) == sizeof...(Ours)) {
    return (SameParameter<Real, Ours>() && ...);
  } else {
    return false;
  }
}

// CUDA 12 dropped the two last of five parameters.
constexpr bool kGraphInstantiateDiffers = CUDART_VERSION >= 12000;

#define CHECK_ENTRY(entry, parameters)                                                               \
  {                                                                                                  \
    using Ours = Error(*) parameters;                                                                \
    constexpr bool compatible = Compatible(static_cast<decltype(&::entry)>(nullptr), Ours{nullptr}); \
    const bool differs = kGraphInstantiateDiffers && std::string(#entry) == "cudaGraphInstantiate";  \
    EXPECT_NE(compatible, differs) << #entry;                                                        \
  }
#define VRAMTRACK_ALLOCATES(entry, kind, parameters, ...) CHECK_ENTRY(entry, parameters)
#define VRAMTRACK_FREES(entry, kind, parameters, ...) CHECK_ENTRY(entry, parameters)
#define VRAMTRACK_OBSERVES(entry, parameters, ...) CHECK_ENTRY(entry, parameters)

TEST(CudaAbiTest, EveryWrapperTakesWhatTheFunctionTakes){
#include "interpose/hooks/runtime_api.inc"
}

TEST(CudaAbiTest, StructuresLieAsInTheHeaders) {
  EXPECT_EQ(sizeof(Extent), sizeof(cudaExtent));
  EXPECT_EQ(offsetof(Extent, depth), offsetof(cudaExtent, depth));
  EXPECT_EQ(sizeof(PitchedPtr), sizeof(cudaPitchedPtr));
  EXPECT_EQ(offsetof(PitchedPtr, pitch), offsetof(cudaPitchedPtr, pitch));
  EXPECT_EQ(sizeof(ChannelFormatDesc), sizeof(cudaChannelFormatDesc));
  EXPECT_EQ(offsetof(ChannelFormatDesc, w), offsetof(cudaChannelFormatDesc, w));
  EXPECT_EQ(sizeof(IpcMemHandle), sizeof(cudaIpcMemHandle_t));
  EXPECT_EQ(offsetof(ExternalMemoryHandleDesc, size), offsetof(cudaExternalMemoryHandleDesc, size));
  EXPECT_EQ(offsetof(DeviceProp, name), offsetof(cudaDeviceProp, name));
  EXPECT_EQ(offsetof(DeviceProp, totalGlobalMem), offsetof(cudaDeviceProp, totalGlobalMem));
}

TEST(CudaAbiTest, ErrorsHaveTheirNumbers) {
  EXPECT_EQ(kSuccess, cudaSuccess);
  EXPECT_EQ(kInitializationError, cudaErrorInitializationError);
}

}  // namespace
}  // namespace vramtrack::cuda
