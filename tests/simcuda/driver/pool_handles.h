// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_POOL_HANDLES_H_
#define TESTS_SIMCUDA_DRIVER_POOL_HANDLES_H_

#include <cuda.h>

#include "tests/simcuda/device/memory_pool.h"

namespace vramtrack::simcuda {

// nullptr for what is no pool, or one that its creator has destroyed. A default pool belongs to its device; all others
// are handles.
MemoryPool* PoolFromHandle(CUmemoryPool handle);

// Frees an allocation of a pool of host memory.
CUresult FreeToHostPool(MemoryPool* pool, void* address);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_POOL_HANDLES_H_
