// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_ACTIVITY_NAMES_H_
#define ANALYZER_CLI_ACTIVITY_NAMES_H_

#include <cstdint>
#include <string>

namespace vramtrack {

// What dump and info call a kind of CUPTI's records.
std::string ActivityName(uint32_t kind);

// What a record of that kind says was done, of an API call its function: "allocated", "host to device", "cudaMalloc".
// Empty where the number alone tells, and for a function that is not among the memory functions.
const char* ActivityOperationName(uint32_t kind, uint32_t operation);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_ACTIVITY_NAMES_H_
