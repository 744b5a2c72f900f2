// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"
#include "analyzer/base/display_text.h"
#include "analyzer/toml/toml_file.h"

namespace vramtrack {
namespace {

bool IsSetup(std::string_view file, std::string_view function) {
  constexpr std::string_view kMoves[] = {"to",      "cuda",   "_apply",           "half",
                                         "float",   "double", "bfloat16",         "to_empty",
                                         "convert", "type",   "reset_parameters", "load_state_dict"};
  if (Contains(file, "torch/nn/init.py") || Contains(file, "torch/nn/parameter.py")) return true;
  if (Contains(file, "torch/nn/modules/")) {
    return function == "__init__" || std::find(std::begin(kMoves), std::end(kMoves), function) != std::end(kMoves);
  }
  return Contains(file, "transformers/modeling_utils.py") &&
         (function == "from_pretrained" || function == "_load_state_dict");
}

void AddPython(const ReportFrame& frame, StackTraits* traits) {
  const std::string_view file = frame.file, function = UnqualifiedName(frame.function);
  // The forward pass that made the node says what for, not when.
  if (frame.forward) return;
  traits->communication |= Contains(file, "torch/distributed/");
  traits->optimizer |= IsOptimizerFrame(file, function);
  traits->data_loader |= Contains(file, "torch/utils/data/");
  traits->pins |= Contains(file, "torch/utils/data/_utils/pin_memory.py");
  traits->setup |= IsSetup(file, function);
  traits->module |= function == "forward" || (Contains(file, "torch/nn/modules/module.py") && function == "_call_impl");
  traits->backward |= Contains(file, "torch/autograd/__init__.py") && function == "backward";
}

void AddNative(const ReportFrame& frame, StackTraits* traits) {
  const std::string_view function = frame.function;
  traits->communication |= StartsWith(function, "nccl") || StartsWith(function, "pnccl") ||
                           Contains(function, "c10d::") || Contains(function, "ncclMemAlloc") ||
                           Contains(frame.module, "libnccl.so");
  traits->workspace |= Contains(function, "orkspace") || Contains(function, "cublasCreate") ||
                       Contains(function, "cublasLtCreate") || Contains(function, "getCurrentCUDABlasHandle") ||
                       Contains(function, "cudnnCreate");
  traits->backward |= frame.origin == ReportFrame::Origin::kNode || !GraphNodeName(frame).empty() ||
                      Contains(function, "torch::autograd::Engine::evaluate_function");
}

}  // namespace

StackTraits TraitsOf(const std::vector<ReportFrame>& frames, schema::GraphNode node) {
  StackTraits traits;
  for (const ReportFrame& frame : frames) {
    if (frame.language == Language::kPython) {
      AddPython(frame, &traits);
    } else {
      AddNative(frame, &traits);
    }
  }
  traits.accumulate = node == schema::NODE_ACCUMULATE;
  traits.backward |= node != schema::NODE_NONE;
  return traits;
}

const char* CategoryName(Category category) {
  constexpr const char* kNames[kCategories] = {
      "parameters",    "gradients", "optimizer_state", "activations", "temporary", "workspace",
      "communication", "input",     "pinned",          "unknown",     "other"};
  return kNames[static_cast<size_t>(category)];
}

const char* EvidenceName(PurposeEvidence evidence) {
  constexpr const char* kNames[kEvidences] = {"none", "stack", "graph_node", "lifetime", "size", "rule"};
  return kNames[static_cast<size_t>(evidence)];
}

namespace {

struct Found {
  Category category;
  PurposeEvidence evidence;
  double confidence;
};

Found Decide(const StackTraits& traits, const SiteLifetime& lifetime, bool host) {
  // A name of a library's own function says it nearly for certain. A category that also needs a lifetime is less sure,
  // as two things have to be true. "temporary" means only: without a name, and gone soon.
  constexpr double kNamed = 0.95, kNamedAndLives = 0.9, kLives = 0.7, kSizes = 0.8;
  const auto named = [](Category category) { return Found{category, PurposeEvidence::kStack, kNamed}; };
  if (host) return traits.pins || traits.data_loader ? named(Category::kInput) : named(Category::kPinned);
  if (traits.communication) return named(Category::kCommunication);
  if (traits.workspace) return named(Category::kWorkspace);
  if (traits.accumulate) return {Category::kGradients, PurposeEvidence::kGraphNode, kNamed};
  const bool lasting = lifetime.kept || lifetime.across_steps;
  const Found unknown = {Category::kUnknown, PurposeEvidence::kNone, 0};
  const Found brief = lifetime.in_steps ? Found{Category::kTemporary, PurposeEvidence::kLifetime, kLives} : unknown;
  if (traits.optimizer) {
    if (lifetime.kept && lifetime.as_parameters) return {Category::kOptimizerState, PurposeEvidence::kSize, kNamed};
    return lasting ? Found{Category::kOptimizerState, PurposeEvidence::kStack, kNamedAndLives} : brief;
  }
  // A gradient is allocated by the node before, and taken over where it is the first.
  if (traits.backward) {
    return lasting || lifetime.into_optimizer ? Found{Category::kGradients, PurposeEvidence::kGraphNode, kNamedAndLives}
                                              : brief;
  }
  if (traits.setup && lifetime.kept) return {Category::kParameters, PurposeEvidence::kStack, kNamedAndLives};
  if (traits.data_loader) return named(Category::kInput);
  // What is kept beyond its step cannot be an activation: it is a cache, or a leak.
  const bool beyond_step = lifetime.kept && lifetime.in_steps;
  if (traits.module && !beyond_step) return {Category::kActivations, PurposeEvidence::kStack, kNamedAndLives};
  // Nobody tells, but autograd needs what the forward pass keeps until its backward pass.
  if (lifetime.into_backward && !lifetime.kept) return {Category::kActivations, PurposeEvidence::kLifetime, kLives};
  if (lifetime.kept && lifetime.as_parameters && !traits.module) {
    return {Category::kOptimizerState, PurposeEvidence::kSize, kSizes};
  }
  return lasting ? unknown : brief;
}

}  // namespace

Purpose PurposeOf(const StackTraits& traits, const SiteLifetime& lifetime, bool host) {
  const Found found = Decide(traits, lifetime, host);
  return {found.category, found.category, found.evidence, found.confidence};
}

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
