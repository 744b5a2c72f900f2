// SPDX-License-Identifier: Apache-2.0
//
// Allocates by the symbols of both APIs and by a look-up of its own.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>

int main() {
  void* a = nullptr;
  CUdeviceptr b = 0, c = 0;
  int wrong = 0;
  for (int i = 0; i < 10; ++i) wrong |= cudaMalloc(&a, 1000) | cudaFree(a);
  for (int i = 0; i < 20; ++i) wrong |= cuMemAlloc(&b, 2000) | cuMemFree(b);
  auto* looked_up = reinterpret_cast<decltype(&cuMemAlloc)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAlloc_v2"));
  for (int i = 0; i < 5; ++i) wrong |= looked_up(&c, 3000) | cuMemFree(c);
  std::printf("%d\n", wrong);
  return wrong;
}
