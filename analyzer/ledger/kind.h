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

// Memory of the host, which no device pays for.
constexpr bool IsHostMemory(uint32_t kind) {
  return kind == schema::PINNED || kind == schema::REGISTERED || kind == schema::HOST_PHYSICAL ||
         kind == schema::HOST_POOL;
}

// Memory of the host that CUDA's calls for pinned memory gave out.
constexpr bool IsPinnedByCalls(uint32_t kind) { return kind == schema::PINNED || kind == schema::REGISTERED; }

// Memory that is mapped into this process but was given out elsewhere.
constexpr bool IsForeignMemory(uint32_t kind) {
  return kind == schema::IPC_MAPPING || kind == schema::EXTERNAL_MEMORY || kind == schema::IMPORTED;
}

// Addresses that take no memory: it is the memory mapped there that counts.
constexpr bool IsAddressSpace(uint32_t kind) {
  return kind == schema::ADDRESS_RANGE || kind == schema::MAPPING || kind == schema::EXTERNAL_MAPPING;
}

// Whether an allocation's address is where its bytes are on the device; otherwise it is a handle.
constexpr bool HasDeviceAddress(uint32_t kind) {
  return kind == schema::DEVICE || kind == schema::PITCHED || kind == schema::STREAM_ORDERED || kind == schema::POOL ||
         kind == schema::GRAPH_POOL;
}

// Whether an allocation's address is one of the device, where a framework's blocks can lie.
constexpr bool IsDeviceRange(uint32_t kind) {
  return HasDeviceAddress(kind) || kind == schema::MANAGED || kind == schema::MAPPING;
}

// Whether a call that failed for `error` did so for lack of a device's memory.
constexpr bool IsOutOfMemory(uint32_t kind, uint64_t error) {
  constexpr uint64_t kErrorOutOfMemory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
  return error == kErrorOutOfMemory && LevelOf(kind) != Level::kHandle && !IsHostMemory(kind);
}

// As the report has it: "device", "pitched", ...
const char* KindName(uint32_t kind);

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_KIND_H_
