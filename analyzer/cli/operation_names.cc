// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/operation_names.h"

#include "proto/schema_constants.h"

namespace vramtrack {

std::string OperationName(uint32_t operation) {
  switch (operation) {
    case schema::ALLOCATE:
      return "allocate";
    case schema::FREE:
      return "free";
    case schema::FREE_UNKNOWN:
      return "free_unknown";
    case schema::FAIL:
      return "fail";
    case schema::FREE_FAILED:
      return "free_failed";
    case schema::STEP:
      return "step";
    case schema::MEMORY_INFO:
      return "memory_info";
    case schema::DEVICE_RESET:
      return "device_reset";
    default:
      return "operation " + std::to_string(operation);
  }
}

}  // namespace vramtrack
