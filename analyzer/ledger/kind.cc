// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/kind.h"

namespace vramtrack {

const char* LevelName(Level level) {
  switch (level) {
    case Level::kDriver:
      return "driver";
    case Level::kFramework:
      return "framework";
    case Level::kHandle:
      return "handle";
  }
  return "driver";
}

const char* KindName(uint32_t kind) {
  switch (kind) {
    case schema::DEVICE:
      return "device";
    case schema::PITCHED:
      return "pitched";
    case schema::ARRAY:
      return "array";
    case schema::MIPMAPPED_ARRAY:
      return "mipmapped_array";
    case schema::MANAGED:
      return "managed";
    case schema::STREAM_ORDERED:
      return "stream_ordered";
    case schema::POOL:
      return "pool";
    case schema::IPC_MAPPING:
      return "ipc_mapping";
    case schema::EXTERNAL_MEMORY:
      return "external_memory";
    case schema::PINNED:
      return "pinned";
    case schema::REGISTERED:
      return "registered";
    case schema::FRAMEWORK_BLOCK:
      return "framework_block";
    case schema::STREAM:
      return "stream";
    case schema::EVENT:
      return "event";
    case schema::GRAPH:
      return "graph";
    case schema::GRAPH_EXEC:
      return "graph_exec";
    case schema::MEMORY_POOL:
      return "memory_pool";
    default:
      return "unknown";
  }
}

}  // namespace vramtrack
