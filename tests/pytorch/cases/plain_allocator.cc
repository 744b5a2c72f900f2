// SPDX-License-Identifier: Apache-2.0
//
// An allocator for torch.cuda.memory.CUDAPluggableAllocator that passes every call on to the runtime.
#include <sys/types.h>

#include <cstddef>

extern "C" {

int cudaMalloc(void** address, size_t bytes);
int cudaFree(void* address);

void* plain_allocate(ssize_t bytes, int /*device*/, void* /*stream*/) {
  void* address = nullptr;
  return cudaMalloc(&address, static_cast<size_t>(bytes)) == 0 ? address : nullptr;
}

void plain_free(void* address, ssize_t /*bytes*/, int /*device*/, void* /*stream*/) { cudaFree(address); }
}
