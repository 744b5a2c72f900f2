// SPDX-License-Identifier: Apache-2.0
//
// Determines what an allocation is for, from its stack and its lifetime. docs/ledger.md describes the rules.
#ifndef ANALYZER_ATTRIBUTION_CATEGORY_H_
#define ANALYZER_ATTRIBUTION_CATEGORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/model/frame_pattern.h"
#include "analyzer/model/report.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// The functions that a stack goes through, as far as the rules use them.
struct StackTraits {
  bool communication = false;  // NCCL, torch.distributed
  bool workspace = false;      // a workspace of cuBLAS, cuDNN or a similar library
  bool optimizer = false;      // an optimizer's step
  bool data_loader = false;
  bool pins = false;        // the thread of a DataLoader that copies batches to pinned memory
  bool setup = false;       // set-up of a module's parameters: its constructor, .to(), .cuda(), loading of weights
  bool module = false;      // a module's forward
  bool backward = false;    // the backward pass
  bool accumulate = false;  // a graph node that accumulates a gradient
};

// Returns the traits of a stack. `frames`: all of its raw frames. `node`: the kind of its graph node.
StackTraits TraitsOf(const std::vector<ReportFrame>& frames, schema::GraphNode node);

// The lifetimes of a site's allocations.
struct SiteLifetime {
  bool kept = false;          // some are live at the end
  bool across_steps = false;  // some lived until another step
  bool in_steps = true;       // there were steps: allocations that are not kept are known to end within one
  // Most freed allocations had lived until a backward pass, or until an optimizer's step.
  bool into_backward = false, into_optimizer = false;
  bool as_parameters = false;  // kept, made after the first backward pass, same number and sizes as the parameters
};

// The built-in categories. Values from kCategories on are those that a user's rules name, see CategoryRules.
enum class Category : uint8_t {
  kParameters,
  kGradients,
  kOptimizerState,
  kActivations,
  kTemporary,
  kWorkspace,
  kCommunication,
  kInput,
  kPinned,   // pinned host memory of no other category
  kUnknown,  // examined, but no rule applies
  kOther,    // not examined: sites that hold little
};
constexpr size_t kCategories = 11;

// Returns "parameters", "gradients", "optimizer_state", ... of a built-in category.
const char* CategoryName(Category category);

// The evidence for a category. If there are several kinds, the strongest is named: the graph node, then sizes, the
// stack, the lifetime.
enum class PurposeEvidence : uint8_t { kNone, kStack, kGraphNode, kLifetime, kSize, kRule };
constexpr size_t kEvidences = 6;

// Returns "none", "stack", "graph_node", "lifetime", "size" or "rule", which is a user's.
const char* EvidenceName(PurposeEvidence evidence);

struct Purpose {
  Category category = Category::kOther;
  Category inferred = Category::kOther;  // the built-in category, whatever a user's rules call it
  PurposeEvidence evidence = PurposeEvidence::kNone;
  double confidence = 0;  // 0 to 1, fixed for each rule; see the table in docs/peaks.md
};

// Returns what the allocations of a site are for. `host`: they are host memory, which is either input or pinned.
Purpose PurposeOf(const StackTraits& traits, const SiteLifetime& lifetime, bool host);

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

#endif  // ANALYZER_ATTRIBUTION_CATEGORY_H_
