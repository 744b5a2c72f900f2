// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_CATEGORY_OPTION_H_
#define ANALYZER_CLI_CATEGORY_OPTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "analyzer/attribution/category_rules.h"

namespace vramtrack {

// Reads the file that an option --categories names; no rules if `path` is empty. The error is one line.
absl::StatusOr<CategoryRules> ReadCategories(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_CATEGORY_OPTION_H_
