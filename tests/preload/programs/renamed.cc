// SPDX-License-Identifier: Apache-2.0
//
// renamed NAME ARGUMENT...: overwrites its arguments with a name, as setproctitle does, and allocates.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string name = argv[1];
  char* const last = argv[argc - 1];
  std::memset(argv[0], 0, static_cast<size_t>(last + std::strlen(last) - argv[0]));
  std::memcpy(argv[0], name.c_str(), name.size());
  void* memory = nullptr;
  return cudaMalloc(&memory, 4096) == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
