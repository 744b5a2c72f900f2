// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/toml/toml_file.h"

namespace vramtrack {
namespace {

// Matching takes time for each frame of each stack.
constexpr size_t kMostRules = 500;

void ReadRule(const toml::table& table, TomlMistakes* mistakes, CategoryRules* rules) {
  std::string name;
  FramePattern pattern;
  const std::pair<const char*, std::string*> known[] = {
      {"name", &name}, {"function", &pattern.function}, {"file", &pattern.file}, {"library", &pattern.library}};
  for (const auto& [key, node] : table) {
    std::string* value = nullptr;
    for (const auto& [expected, text] : known) {
      if (key.str() == expected) value = text;
    }
    if (value == nullptr) {
      mistakes->AddUnknownKey(key, "[[category]]", {"name", "function", "file", "library"});
    } else {
      mistakes->ReadText(std::string(key.str()), node, value);
    }
  }
  if (!mistakes->status().ok()) return;
  const toml::node* const named = table.get("name");
  if (named == nullptr) {
    mistakes->Add(table, "[[category]]: name is missing");
  } else if (pattern.empty()) {
    mistakes->Add(table, "[[category]]: one of function, file and library is needed");
  } else if (const absl::Status added = rules->Add(name, std::move(pattern)); !added.ok()) {
    mistakes->Add(*named, std::string(added.message()));
  }
}

}  // namespace

absl::StatusOr<CategoryRules> ParseCategoryRules(std::string_view text, const std::string& path) {
  const absl::StatusOr<toml::table> file = ParseToml(text, path);
  if (!file.ok()) return file.status();
  TomlMistakes mistakes(path);
  CategoryRules rules;
  for (const auto& [key, node] : *file) {
    if (key.str() != "category") {
      mistakes.AddUnknownKey(key, "the file", {"[[category]]"});
      continue;
    }
    const toml::array* list = node.as_array();
    if (list == nullptr || !list->is_array_of_tables()) {
      mistakes.Add(node, "category: not a list of tables (write [[category]])");
      continue;
    }
    if (list->size() > kMostRules) {
      mistakes.Add((*list)[kMostRules], absl::StrCat("too many rules (expected at most ", kMostRules, ")"));
      continue;
    }
    for (const toml::node& one : *list) ReadRule(*one.as_table(), &mistakes, &rules);
  }
  if (absl::Status status = mistakes.status(); !status.ok()) return status;
  return rules;
}

}  // namespace vramtrack
