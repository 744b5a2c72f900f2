// SPDX-License-Identifier: Apache-2.0
//
// The part of CUDA's binary interface that the hooks pass through, so that the library builds without a toolkit and
// serves every version of it. Handles are pointers; what is not looked into is void. tests/hooks/cuda_abi_test.cc holds
// it against the real headers.
#ifndef INTERPOSE_HOOKS_CUDA_ABI_H_
#define INTERPOSE_HOOKS_CUDA_ABI_H_

#include <cstddef>

namespace vramtrack::cuda {

using Error = int;  // cudaError_t
constexpr Error kSuccess = 0;
constexpr Error kInitializationError = 3;

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

struct IpcMemHandle {  // cudaIpcMemHandle_t
  char reserved[64];
};

struct ExternalMemoryHandleDesc {  // cudaExternalMemoryHandleDesc, as far as its size
  int type;
  void* handle[2];
  unsigned long long size;
};

struct DeviceProp {  // cudaDeviceProp of 10.0 and later, as far as the memory
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
};

}  // namespace vramtrack::cuda

#endif  // INTERPOSE_HOOKS_CUDA_ABI_H_
