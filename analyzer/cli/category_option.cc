// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/category_option.h"

#include <cstdint>

#include "analyzer/attribution/category_rules.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMostCategoryBytes = 1 << 20;

}  // namespace

absl::StatusOr<CategoryRules> ReadCategories(const std::string& path) {
  if (path.empty()) return CategoryRules();
  const absl::StatusOr<std::string> text = ReadInputFile(path, kMostCategoryBytes);
  if (!text.ok()) return text.status();
  return ParseCategoryRules(*text, path);
}

}  // namespace vramtrack
