// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_NCCL_MEMORY_H_
#define TESTS_SIMCUDA_LIBRARIES_NCCL_MEMORY_H_

#include <cstddef>

namespace vramtrack::simcuda {

// Memory of the current device by virtual memory management, whose functions the runtime looks up in the driver. False
// if any of them fails.
bool AllocateMapped(void** address, size_t bytes);
bool FreeMapped(void* address);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_NCCL_MEMORY_H_
