// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/kind.h"

namespace vramtrack {

const char* KindName(uint32_t kind) {
  const char* name = schema::KindName(kind);
  return name != nullptr ? name : "unknown";
}

}  // namespace vramtrack
