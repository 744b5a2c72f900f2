// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/host_cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace {

// TRANSFORMER_HOST_BYTES, or 4 GiB.
size_t TotalBytes() {
  const char* const text = std::getenv("TRANSFORMER_HOST_BYTES");
  return text == nullptr ? size_t{4} << 30 : std::strtoull(text, nullptr, 10);
}

struct Books {
  std::unordered_map<void*, size_t> bytes_of;  // also keeps what a workload has lost reachable for LeakSanitizer
  size_t live_bytes = 0;
  uint64_t allocations = 0;
};

// Never destroyed: buffers of static objects are freed after main.
Books& TheBooks() {
  static Books* const books = new Books;
  return *books;
}

cudaError_t Allocate(void** data, size_t bytes) {
  Books& books = TheBooks();
  if (bytes > TotalBytes() - books.live_bytes) return cudaErrorMemoryAllocation;
  *data = std::malloc(bytes);
  if (*data == nullptr) return cudaErrorMemoryAllocation;
  // Fresh device memory holds anything: a kernel that relies on zeros is to fail in the tests.
  std::memset(*data, 0x7f, bytes);
  books.bytes_of[*data] = bytes;
  books.live_bytes += bytes;
  ++books.allocations;
  return cudaSuccess;
}

cudaError_t Free(void* data) {
  if (data == nullptr) return cudaSuccess;
  Books& books = TheBooks();
  const auto found = books.bytes_of.find(data);
  if (found == books.bytes_of.end()) return cudaErrorInvalidValue;
  books.live_bytes -= found->second;
  books.bytes_of.erase(found);
  std::free(data);
  return cudaSuccess;
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
  }
  return "unknown error";
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaMalloc(void** data, size_t bytes) { return Allocate(data, bytes); }
cudaError_t cudaFree(void* data) { return Free(data); }
cudaError_t cudaMallocHost(void** data, size_t bytes) { return Allocate(data, bytes); }
cudaError_t cudaFreeHost(void* data) { return Free(data); }

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind /*kind*/) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = std::getenv("TRANSFORMER_HOST_NO_DEVICE") == nullptr ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidValue; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
  std::snprintf(properties->name, sizeof properties->name, "host");
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = TotalBytes();
  *free_bytes = TotalBytes() - TheBooks().live_bytes;
  return cudaSuccess;
}

namespace transformer {

HostMemoryBooks ReadHostMemoryBooks() {
  const Books& books = TheBooks();
  return {books.live_bytes, books.bytes_of.size(), books.allocations};
}

}  // namespace transformer
