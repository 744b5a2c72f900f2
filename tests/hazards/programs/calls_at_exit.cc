// SPDX-License-Identifier: Apache-2.0
//
// Frees what it has when the runtime may be gone already, and takes something more.
#include "tests/hazards/programs/device.h"

namespace {

void* kept[3];

__attribute__((destructor)) void AtTheVeryEnd() {
  for (void* pointer : kept) std::printf("free: %d\n", cudaFree(pointer));
  void* pointer = nullptr;
  std::printf("allocate: %d\n", cudaMalloc(&pointer, 4096));
  std::fflush(stdout);
}

}  // namespace

int main() {
  for (void*& pointer : kept) pointer = Take(4096);
  return 0;
}
