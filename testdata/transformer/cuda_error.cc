// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/cuda_error.h"

#include <unistd.h>

#include <cstdio>

namespace transformer {
namespace {

// No destructors: they would call CUDA again, in a state that has just failed.
[[noreturn]] void Fail() {
  std::fflush(stdout);
  _exit(1);
}

}  // namespace

void CheckCuda(cudaError_t error, const char* call, SourceLine where) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", where.file, where.line, call, cudaGetErrorString(error));
  Fail();
}

void CheckAllocation(cudaError_t error, const char* call, size_t bytes, SourceLine where) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s of %zu bytes: %s\n", where.file, where.line, call, bytes, cudaGetErrorString(error));
  Fail();
}

}  // namespace transformer
