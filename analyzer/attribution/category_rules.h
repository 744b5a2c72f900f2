// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_CATEGORY_RULES_H_
#define ANALYZER_ATTRIBUTION_CATEGORY_RULES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/attribution/category.h"
#include "analyzer/model/frame_pattern.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The categories of a report: the built-in ones, and after them those that a user's rules name. Const member functions
// are thread-safe.
class CategoryRules {
 public:
  static constexpr size_t kMostCategories = 100;  // with the built-in ones
  static constexpr size_t kMostNameBytes = 40;

  CategoryRules();

  // Adds a rule, which is tried after those before it. Adds the category too if it is new; the name of a built-in one
  // stands for that. The error is what is wrong with the name.
  absl::Status Add(const std::string& name, FramePattern pattern);

  size_t count() const { return names_.size(); }  // of categories
  bool empty() const { return rules_.empty(); }   // without rules
  const std::string& Name(Category category) const { return names_[static_cast<size_t>(category)]; }

  // Returns the category of the first rule that any of a stack's frames matches; nullopt if none does. Frames of the
  // forward pass, which are shown with what the backward pass allocates, do not count.
  std::optional<Category> Match(const std::vector<ReportFrame>& frames) const;
  // Applies the rules to what the built-in ones found.
  void Apply(const std::vector<ReportFrame>& frames, Purpose* purpose) const;

 private:
  struct Rule {
    FramePattern pattern;
    Category category;
  };

  std::vector<std::string> names_;  // by category
  std::vector<Rule> rules_;
};

// Parses a user's rules for categories, see docs/categories.example.toml. `path` names the file in errors, which are
// one line with the line of the file.
absl::StatusOr<CategoryRules> ParseCategoryRules(std::string_view text, const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_CATEGORY_RULES_H_
