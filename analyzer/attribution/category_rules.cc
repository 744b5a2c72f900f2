// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category_rules.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/toml/toml_file.h"

namespace vramtrack {
namespace {

// Names that mean something else in a report.
constexpr const char* kReserved[] = {"unknown", "other", "segment", "graph_pool", "handle"};

absl::Status CheckName(const std::string& name) {
  const auto wrong = [&name](const std::string& expected) {
    return absl::InvalidArgumentError(absl::StrCat("invalid name '", Printable(name), "' (expected ", expected, ")"));
  };
  if (name.empty() || name.size() > CategoryRules::kMostNameBytes) {
    return wrong(absl::StrCat("1 to ", CategoryRules::kMostNameBytes, " bytes"));
  }
  // Stacks in one line are separated by ;.
  if (Printable(name) != name || name.find(';') != std::string::npos || name.front() == ' ' || name.back() == ' ') {
    return wrong("printable text without ; and without spaces at its ends");
  }
  if (std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved)) {
    return wrong("a name that reports do not use for something else");
  }
  return absl::OkStatus();
}

}  // namespace

CategoryRules::CategoryRules() {
  for (size_t i = 0; i < kCategories; ++i) names_.emplace_back(CategoryName(static_cast<Category>(i)));
}

absl::Status CategoryRules::Add(const std::string& name, FramePattern pattern) {
  if (absl::Status valid = CheckName(name); !valid.ok()) return valid;
  const auto found = std::find(names_.begin(), names_.end(), name);
  const size_t index = static_cast<size_t>(found - names_.begin());
  if (found == names_.end()) {
    if (names_.size() == kMostCategories) {
      return absl::InvalidArgumentError(
          absl::StrCat("too many names (expected at most ", kMostCategories - kCategories, ")"));
    }
    names_.push_back(name);
  }
  rules_.push_back({std::move(pattern), static_cast<Category>(index)});
  return absl::OkStatus();
}

std::optional<Category> CategoryRules::Match(const std::vector<ReportFrame>& frames) const {
  for (const Rule& rule : rules_) {
    for (const ReportFrame& frame : frames) {
      if (!frame.forward && rule.pattern.Matches(frame)) return rule.category;
    }
  }
  return std::nullopt;
}

void CategoryRules::Apply(const std::vector<ReportFrame>& frames, Purpose* purpose) const {
  const std::optional<Category> category = Match(frames);
  if (!category) return;
  purpose->category = *category;
  purpose->evidence = PurposeEvidence::kRule;
  purpose->confidence = 1;
}

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
