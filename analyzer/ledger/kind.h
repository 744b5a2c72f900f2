// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_KIND_H_
#define ANALYZER_LEDGER_KIND_H_

#include <cstdint>

#include "analyzer/model/enums.h"
#include "proto/schema_constants.h"

namespace vramtrack {

constexpr Level LevelOf(uint32_t kind) {
  if (kind >= schema::STREAM) return Level::kHandle;
  return kind >= schema::FRAMEWORK_BLOCK ? Level::kFramework : Level::kDriver;
}

// Returns whether allocations of `kind` use host memory and no device memory.
constexpr bool IsHostMemory(uint32_t kind) {
  return kind == schema::PINNED || kind == schema::REGISTERED || kind == schema::HOST_PHYSICAL ||
         kind == schema::HOST_POOL || kind == schema::PINNED_BLOCK;
}

// Returns whether `kind` is host memory that CUDA's calls for pinned memory allocated or registered.
constexpr bool IsPinnedByCalls(uint32_t kind) { return kind == schema::PINNED || kind == schema::REGISTERED; }

// Returns whether `kind` is memory of a CUDA graph's private pool, which nothing else can use as long as the graph
// lives.
constexpr bool IsGraphPool(uint32_t kind) { return kind == schema::GRAPH_POOL || kind == schema::GRAPH_POOL_PHYSICAL; }

// Returns whether `kind` is memory that is mapped into this process but was allocated elsewhere.
constexpr bool IsForeignMemory(uint32_t kind) {
  return kind == schema::IPC_MAPPING || kind == schema::EXTERNAL_MEMORY || kind == schema::IMPORTED;
}

// Returns whether `kind` is address space only. It uses no memory; the memory that is mapped there counts.
constexpr bool IsAddressSpace(uint32_t kind) {
  return kind == schema::ADDRESS_RANGE || kind == schema::MAPPING || kind == schema::EXTERNAL_MAPPING;
}

// Returns the level at which a report counts a site of `kind`. Address space that holds no segments of a framework's
// allocator (`segments`) is a handle: its objects are counted, and it has no bytes of memory.
constexpr Level LevelOf(uint32_t kind, bool segments) {
  return IsAddressSpace(kind) && !segments ? Level::kHandle : LevelOf(kind);
}

// Returns whether memory of `kind` comes from one of the driver's pools of stream-ordered memory.
constexpr bool IsStreamOrdered(uint32_t kind) { return kind == schema::STREAM_ORDERED || kind == schema::POOL; }

// Returns whether an allocation's address is the place of its bytes on the device. Otherwise it is a handle.
constexpr bool HasDeviceAddress(uint32_t kind) {
  return kind == schema::DEVICE || kind == schema::PITCHED || IsStreamOrdered(kind) || kind == schema::GRAPH_POOL;
}

// Returns whether an allocation's address is a device address that can contain blocks of a framework's allocator.
constexpr bool IsDeviceRange(uint32_t kind) {
  return HasDeviceAddress(kind) || kind == schema::MANAGED || kind == schema::MAPPING;
}

// Returns whether a call for `kind` that failed with `error` failed because a device was out of memory.
constexpr bool IsOutOfMemory(uint32_t kind, uint64_t error) {
  constexpr uint64_t kErrorOutOfMemory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
  return error == kErrorOutOfMemory && LevelOf(kind) != Level::kHandle && !IsHostMemory(kind);
}

// Returns whether an allocation's address is where blocks of a framework's allocator may lie, on a device or the host.
constexpr bool MayHoldBlocks(uint32_t kind) { return IsDeviceRange(kind) || IsPinnedByCalls(kind); }

// Returns the report's name of `kind`: "device", "pitched", ...
inline const char* KindName(uint32_t kind) {
  const char* name = schema::KindName(kind);
  return name != nullptr ? name : "unknown";
}

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_KIND_H_
