// SPDX-License-Identifier: Apache-2.0
//
// Groups calls into families: if a call is made inside another one of its family, only the outer one is an event. For
// example, cudaMalloc calls cuMemAlloc. A context that cudaMalloc creates, or a workspace that cublasCreate allocates,
// belongs to another family and is an event of its own. Virtual memory is a separate family, too. The cudaMalloc of
// CUDA uses none, but that of another preloaded library may, in order to unmap memory and map it again later; its
// virtual memory calls are then the events, and its cudaMalloc is not.
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
  kGraph = 1u << 29,   // nodes of the graph of a framework
  kBlocks = 1u << 30,  // blocks of a framework: the calls of the driver that allocate their memory are other events
  kVirtualMemory = 1u << 31,
  kEverything = ~0u,
};

// Returns the family of a kind: virtual memory is one family, all other memory is one, and each kind of handle is one.
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
