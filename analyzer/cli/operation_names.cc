// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/operation_names.h"

#include "absl/strings/strip.h"
#include "analyzer/ledger/kind.h"
#include "proto/schema_constants.h"

namespace vramtrack {

std::string OperationName(uint32_t operation) {
  const char* name = schema::OperationName(operation);
  return name != nullptr ? name : "operation " + std::to_string(operation);
}

std::string KindNameOf(uint32_t operation, uint32_t kind) {
  if (operation == schema::MARK) {
    const char* name = schema::MarkKindName(kind);
    return name != nullptr ? std::string(absl::StripPrefix(name, "mark_")) : "";
  }
  return kind == schema::KIND_NONE ? "" : KindName(kind);
}

}  // namespace vramtrack
