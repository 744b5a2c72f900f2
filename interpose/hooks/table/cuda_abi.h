// SPDX-License-Identifier: Apache-2.0
//
// The part of CUDA's binary interface that the hooks use. With these declarations the library builds without a CUDA
// toolkit and supports every version of it. Handles are pointers; types whose contents are not read are void.
// tests/hooks/cuda_abi_test.cc compares the declarations with the real headers.
#ifndef INTERPOSE_HOOKS_TABLE_CUDA_ABI_H_
#define INTERPOSE_HOOKS_TABLE_CUDA_ABI_H_

#include <cstddef>

namespace vramtrack::cuda {

using Error = int;  // cudaError_t, CUresult, and the enums of the libraries on top
constexpr Error kSuccess = 0;
constexpr Error kMemoryAllocation = 2;     // the same number in the driver
constexpr Error kInitializationError = 3;  // the same number as CUDA_ERROR_NOT_INITIALIZED of the driver
constexpr Error kNcclInProgress = 7;       // ncclInProgress: a communicator is being set up in the background

using DevicePointer = unsigned long long;  // CUdeviceptr

struct Extent {  // cudaExtent: width in elements for arrays, in bytes otherwise
  size_t width, height, depth;
};

struct PitchedPtr {  // cudaPitchedPtr
  void* ptr;
  size_t pitch, xsize, ysize;
};

struct ChannelFormatDesc {  // cudaChannelFormatDesc: bits of each component
  int x, y, z, w;
  int f;
};

struct ArrayDescriptor {  // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;
  unsigned channels;
};

struct Array3DDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

struct IpcMemHandle {  // cudaIpcMemHandle_t, CUipcMemHandle
  char reserved[64];
};

struct IpcEventHandle {  // cudaIpcEventHandle_t, CUipcEventHandle
  char reserved[64];
};

struct NcclUniqueId {  // ncclUniqueId
  char internal[128];
};

struct ExternalMemoryHandleDesc {  // cudaExternalMemoryHandleDesc, up to its size
  int type;
  void* handle[2];
  unsigned long long size;
};

struct ExternalMemoryBufferDesc {  // cudaExternalMemoryBufferDesc, up to its size
  unsigned long long offset, size;
};

struct MemLocation {  // cudaMemLocation, CUmemLocation
  int type;
  int id;
};
constexpr int kLocationDevice = 1;

struct AllocationProp {  // CUmemAllocationProp, up to its location
  int type, handle_types;
  MemLocation location;
};

struct MemPoolProps {  // cudaMemPoolProps, CUmemPoolProps
  int type, handle_types;
  MemLocation location;
  void* security;
  size_t max_size;
  char reserved[56];
};
constexpr int kPoolReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
constexpr int kDeviceIntegrated = 18;     // CU_DEVICE_ATTRIBUTE_INTEGRATED

struct MemAllocNodeParams {  // cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS
  MemPoolProps poolProps;
  const void* access;
  size_t access_count;
  size_t bytesize;
  DevicePointer dptr;
};

struct GraphNodeParams {  // cudaGraphNodeParams, CUgraphNodeParams
  int type;
  int reserved[3];
  union {
    MemAllocNodeParams alloc;
    DevicePointer free;
  };
};
constexpr int kMemAllocNode = 10;
constexpr int kMemFreeNode = 11;

struct DeviceProp {  // cudaDeviceProp of CUDA 10.0 and later, up to the memory size
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
};

}  // namespace vramtrack::cuda

#endif  // INTERPOSE_HOOKS_TABLE_CUDA_ABI_H_
