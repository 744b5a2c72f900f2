// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_WORKSPACE_H_
#define TESTS_SIMCUDA_LIBRARIES_WORKSPACE_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace vramtrack::simcuda {

// Device memory that a library allocates for itself. As in NVIDIA's libraries, it uses the runtime that is linked into
// the library.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (memory_ != nullptr) cudaFree(memory_);
  }

  // Allocates the memory. Returns false if the device has not enough memory. Call it at most once.
  bool Take(size_t bytes) { return cudaMalloc(&memory_, bytes) == cudaSuccess; }

 private:
  void* memory_ = nullptr;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_WORKSPACE_H_
