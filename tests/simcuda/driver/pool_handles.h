// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_POOL_HANDLES_H_
#define TESTS_SIMCUDA_DRIVER_POOL_HANDLES_H_

#include <cuda.h>

#include "tests/simcuda/device/memory_pool.h"

namespace vramtrack::simcuda {

// Returns the pool of a handle, or nullptr if the handle is invalid or its creator has destroyed the pool. A default
// pool belongs to its device; all other pools are objects of Handles.
MemoryPool* PoolFromHandle(CUmemoryPool handle);

// Frees an allocation of a pool of host memory.
CUresult FreeToHostPool(MemoryPool* pool, void* address);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_POOL_HANDLES_H_
