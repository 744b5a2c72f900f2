// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/category_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

std::string CategoryText(const std::string& name) {
  if (name == "unknown") return "unknown use";
  return absl::StrReplaceAll(name, {{"_", " "}});
}

std::string CategoriesText(const std::vector<std::pair<std::string, uint64_t>>& categories) {
  constexpr uint64_t kLittle = 100;
  uint64_t total = 0;
  for (const auto& [name, bytes] : categories) total += bytes;
  std::vector<std::string> parts;
  uint64_t rest = 0;
  for (const auto& [name, bytes] : categories) {
    if (name == "other" || bytes < total / kLittle) {
      rest += bytes;
      continue;
    }
    parts.push_back(absl::StrCat(FormatByteCount(static_cast<double>(bytes)), " ", CategoryText(name)));
  }
  if (rest != 0 && !parts.empty()) parts.push_back(FormatByteCount(static_cast<double>(rest)) + " other");
  return absl::StrJoin(parts, ", ");
}

}  // namespace vramtrack
