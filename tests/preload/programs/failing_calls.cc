// SPDX-License-Identifier: Apache-2.0
//
// Calls that fail, and what the program can see of that: the code, the last error, errno.
#include <cuda_runtime_api.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace {

void Show(const char* what, cudaError_t error) {
  const int peeked = cudaPeekAtLastError(), last = cudaGetLastError(), after = cudaGetLastError();
  std::printf("%s: %d, peek %d, last %d, then %d, errno %d\n", what, error, peeked, last, after, errno);
}

}  // namespace

int main() {
  void *a = nullptr, *b = nullptr;
  errno = 77;
  Show("too much", cudaMalloc(&a, size_t{1} << 50));
  Show("nowhere to put it", cudaMalloc(nullptr, 100));
  Show("nothing", cudaMalloc(&a, 0));
  Show("unknown address", cudaFree(reinterpret_cast<void*>(uintptr_t{0x1230000})));
  Show("a", cudaMalloc(&a, 4096));
  Show("b", cudaMalloc(&b, 8192));
  Show("free a", cudaFree(a));
  Show("free a again", cudaFree(a));
  Show("free b", cudaFree(b));
  Show("unknown host address", cudaFreeHost(reinterpret_cast<void*>(uintptr_t{0x4560000})));
  Show("null", cudaFree(nullptr));
  Show("no such device", cudaSetDevice(99));
  std::printf("errno %d\n", errno);
  return 0;
}
