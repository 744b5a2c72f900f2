// SPDX-License-Identifier: Apache-2.0
//
// A library that leaks PLUGIN_BYTES per call from a function named after it.
#include <cuda_runtime_api.h>

extern "C" __attribute__((noinline, visibility("default"))) void* PLUGIN_FUNCTION() {
  void* pointer = nullptr;
  cudaMalloc(&pointer, PLUGIN_BYTES);
  asm volatile("" : : "r"(pointer) : "memory");
  return pointer;
}

extern "C" __attribute__((visibility("default"))) void plugin_allocate() {
  PLUGIN_FUNCTION();
  asm volatile("" : : : "memory");  // no tail call
}
