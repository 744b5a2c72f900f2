// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_CATEGORY_FILE_H_
#define ANALYZER_ATTRIBUTION_CATEGORY_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "analyzer/attribution/category_rules.h"

namespace vramtrack {

// Parses a user's rules for categories, see docs/categories.example.toml. `path` names the file in errors, which are
// one line with the line of the file.
absl::StatusOr<CategoryRules> ParseCategoryRules(std::string_view text, const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_CATEGORY_FILE_H_
