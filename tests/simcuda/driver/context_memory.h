// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_CONTEXT_MEMORY_H_
#define TESTS_SIMCUDA_DRIVER_CONTEXT_MEMORY_H_

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/options.h"

namespace vramtrack::simcuda {

// SIMCUDA_CONTEXT_MEMORY of a context that is not its device's primary one.
inline void TakeContextMemory(Context* context) {
  if (GetOptions().context_bytes == 0) return;
  const size_t pages = (GetOptions().context_bytes + kPageBytes - 1) / kPageBytes;
  context->memory = context->device->memory.TakePages(pages, PageUse::kContext, context);
}

inline void ReturnContextMemory(Context* context) {
  if (context->memory != nullptr) context->device->memory.ReturnPages(context->memory);
  context->memory = nullptr;
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_CONTEXT_MEMORY_H_
