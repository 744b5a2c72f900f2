// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_OPERATION_NAMES_H_
#define ANALYZER_CLI_OPERATION_NAMES_H_

#include <cstdint>
#include <string>

namespace vramtrack {

// Of schema::Operation: "allocate", "free", ...; of a newer writer's "operation 12".
std::string OperationName(uint32_t operation);

// What the operation was done to, as the report has it; of a mark what it stands for. Empty where that is not told.
std::string KindNameOf(uint32_t operation, uint32_t kind);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OPERATION_NAMES_H_
