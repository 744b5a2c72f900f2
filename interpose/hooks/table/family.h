// SPDX-License-Identifier: Apache-2.0
//
// Which calls stand for each other when one is made inside another: cudaMalloc calls cuMemAlloc, and only the outer one
// is an event. A context that cudaMalloc makes on the way, or a workspace that cublasCreate allocates, is one of its
// own. So is virtual memory: CUDA's own cudaMalloc uses none, but another preloaded library's may, to take the memory
// away and give it back later; then its calls are the events and cudaMalloc is none.
#ifndef INTERPOSE_HOOKS_TABLE_FAMILY_H_
#define INTERPOSE_HOOKS_TABLE_FAMILY_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

enum Family : uint32_t {
  kNoFamily = 0,
  kMemory = 1u << 0,
  kQueries = 1u << 1,
  kTrimming = 1u << 2,
  kLimits = 1u << 3,
  kGraph = 1u << 29,   // nodes of a framework's graph
  kBlocks = 1u << 30,  // of a framework: it tells of them while it allocates, and the driver's memory is another event
  kVirtualMemory = 1u << 31,
  kEverything = ~0u,
};

// Virtual memory is one family, memory of all other kinds is one, and each kind of handle.
constexpr uint32_t FamilyOf(uint32_t kind) {
  constexpr uint32_t kFirstHandleBit = 4;
  static_assert(schema::TEXTURE - schema::STREAM + kFirstHandleBit < 29, "a bit for every kind of handle");
  switch (kind) {
    case schema::PHYSICAL:
    case schema::HOST_PHYSICAL:
    case schema::IMPORTED:
    case schema::MULTICAST:
    case schema::ADDRESS_RANGE:
    case schema::MAPPING:
      return kVirtualMemory;
    default:
      break;
  }
  return kind < schema::STREAM ? kMemory : 1u << (kind - schema::STREAM + kFirstHandleBit);
}

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_FAMILY_H_
