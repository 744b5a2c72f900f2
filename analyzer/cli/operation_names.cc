// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/operation_names.h"

#include "proto/schema_constants.h"

namespace vramtrack {

std::string OperationName(uint32_t operation) {
  const char* name = schema::OperationName(operation);
  return name != nullptr ? name : "operation " + std::to_string(operation);
}

}  // namespace vramtrack
