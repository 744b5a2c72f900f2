// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_HOST_CUDA_H_
#define TESTDATA_TRANSFORMER_HOST_CUDA_H_

// The runtime functions that the workloads call, implemented with host memory. For tests of the mathematics and of the
// planted leaks on a machine without CUDA. Not thread-safe.

#include <cstddef>
#include <cstdint>

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
struct cudaDeviceProp {
  char name[256];
};

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaMalloc(void** data, size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMallocHost(void** data, size_t bytes);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);

namespace transformer {

// The live memory and the number of allocations so far, for device and pinned memory together.
struct HostMemoryBooks {
  size_t live_bytes = 0;
  size_t live_buffers = 0;
  uint64_t allocations = 0;
};
HostMemoryBooks ReadHostMemoryBooks();

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_HOST_CUDA_H_
