// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_OPTION_VALUES_H_
#define ANALYZER_CLI_OPTION_VALUES_H_

#include <string>

#include "absl/status/statusor.h"
#include "analyzer/attribution/category.h"

namespace vramtrack {

// Reads the file that an option --categories names; no rules if `path` is empty. The error is one line.
absl::StatusOr<CategoryRules> ReadCategories(const std::string& path);

// Turns a value of --holders, such as "growth,5m", into the one of VRAMTRACK_HOLDERS ("growth,300s"). Returns an error
// message, empty if the value is valid.
std::string ReadHolderMoments(std::string& text);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_OPTION_VALUES_H_
