// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_TABLE_LIVE_KEY_H_
#define INTERPOSE_HOOKS_TABLE_LIVE_KEY_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// Addresses and handles of different kinds may coincide. One space holds all that one function may free: cudaFree,
// cudaFreeAsync and cudaIpcCloseMemHandle; cuMemRelease.
constexpr uint64_t SpaceOf(uint32_t kind) {
  switch (kind) {
    case schema::DEVICE:
    case schema::GRAPH_POOL:
    case schema::PITCHED:
    case schema::MANAGED:
    case schema::STREAM_ORDERED:
    case schema::POOL:
    case schema::HOST_POOL:
    case schema::IPC_MAPPING:
    case schema::EXTERNAL_MAPPING:
    case schema::GRAPH_MEMORY:
      return schema::DEVICE;
    case schema::PHYSICAL:
    case schema::GRAPH_POOL_PHYSICAL:
    case schema::HOST_PHYSICAL:
    case schema::IMPORTED:
    case schema::MULTICAST:
      return schema::PHYSICAL;
    case schema::EXTERNAL_SEMAPHORE:
      return 62;  // kinds beyond 63 take numbers that no other one uses here
    case schema::TEXTURE:
      return 63;
    default:
      return kind;
  }
}

// Returns the key of what is live at `address`, in the table of live allocations. 58 bits of the address count.
constexpr uint64_t KeyOf(uint32_t kind, uint64_t address) { return address << 6 | SpaceOf(kind); }

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_LIVE_KEY_H_
