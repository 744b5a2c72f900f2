// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_WORKSPACE_H_
#define TESTS_SIMCUDA_LIBRARIES_WORKSPACE_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace vramtrack::simcuda {

// Device memory that a library takes for itself, through the runtime that is linked into it, as NVIDIA's libraries do.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (memory_ != nullptr) cudaFree(memory_);
  }

  // False when the device has no room. To be called once.
  bool Take(size_t bytes) { return cudaMalloc(&memory_, bytes) == cudaSuccess; }

 private:
  void* memory_ = nullptr;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_WORKSPACE_H_
