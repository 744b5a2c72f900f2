// SPDX-License-Identifier: Apache-2.0
//
// Calls of the driver, which the programs of this folder are not linked with.
#ifndef TESTS_HAZARDS_PROGRAMS_DRIVER_H_
#define TESTS_HAZARDS_PROGRAMS_DRIVER_H_

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

template <typename Function>
Function* Driver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

inline void Check(CUresult result, int line) {
  if (result == CUDA_SUCCESS) return;
  std::printf("line %d: %d\n", line, static_cast<int>(result));
  std::fflush(stdout);
  std::abort();
}

// Calls a function, or ends the program.
#define CU(function, ...) Check(Driver<decltype(function)>(#function)(__VA_ARGS__), __LINE__)

#endif  // TESTS_HAZARDS_PROGRAMS_DRIVER_H_
