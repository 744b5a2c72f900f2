// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_GRAPH_MEMORY_H_
#define TESTS_SIMCUDA_DRIVER_GRAPH_MEMORY_H_

#include <cuda.h>

#include <cstddef>
#include <memory>

#include "tests/simcuda/device/virtual_memory.h"

namespace vramtrack::simcuda {

// The memory of one allocation node. Its address is fixed when the node is made; device memory is behind it from the
// first launch on, and stays when it is freed, until the device's graph memory is trimmed. While it is live it outlives
// its graph.
struct GraphAllocation : std::enable_shared_from_this<GraphAllocation> {
  ~GraphAllocation();

  int device = 0;
  char* address = nullptr;
  size_t bytes = 0;     // as asked for
  size_t reserved = 0;  // in whole pages
  PhysicalMemory* memory = nullptr;
  bool live = false;
};

// nullptr when no addresses are left. Thread safe, as all here.
std::shared_ptr<GraphAllocation> MakeGraphAllocation(int device, size_t bytes);

// What launching the allocation node or the free node does.
CUresult StartGraphAllocation(GraphAllocation* allocation);
CUresult EndGraphAllocation(GraphAllocation* allocation);

// The allocation at `address`, live or not.
std::shared_ptr<GraphAllocation> FindGraphAllocation(const void* address);

// Frees what a launched graph left allocated; false if `address` is no such thing.
bool FreeGraphMemory(void* address);

// Gives back what is not live.
void TrimGraphMemory(int device);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_GRAPH_MEMORY_H_
