// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_GRAPH_MEMORY_H_
#define TESTS_SIMCUDA_DRIVER_GRAPH_MEMORY_H_

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "tests/simcuda/device/virtual_memory.h"

namespace vramtrack::simcuda {

// The memory of one allocation node. Its address is fixed when the node is made. The first launch maps device memory
// there, which stays mapped after a free until the device's graph memory is trimmed. A live allocation outlives its
// graph.
struct GraphAllocation : std::enable_shared_from_this<GraphAllocation> {
  ~GraphAllocation();

  int device = 0;
  char* address = nullptr;
  size_t bytes = 0;     // requested bytes
  size_t reserved = 0;  // bytes in whole pages
  PhysicalMemory* memory = nullptr;
  bool live = false;
};

// Returns nullptr if no addresses are left. All functions of this header are thread-safe.
std::shared_ptr<GraphAllocation> MakeGraphAllocation(int device, size_t bytes);

// Do the work of an allocation node and of a free node at a launch.
CUresult StartGraphAllocation(GraphAllocation* allocation);
CUresult EndGraphAllocation(GraphAllocation* allocation);

// Returns the allocation at `address`, live or not, or nullptr.
std::shared_ptr<GraphAllocation> FindGraphAllocation(const void* address);

// Frees memory that a launched graph left allocated. Returns false if there is none at `address`.
bool FreeGraphMemory(void* address);

// Releases the graph memory of the device that is not live.
void TrimGraphMemory(int device);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_GRAPH_MEMORY_H_
