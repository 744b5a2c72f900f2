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
  const char* name = schema::KindName(kind);
  return name != nullptr ? name : "unknown";
}

}  // namespace vramtrack
