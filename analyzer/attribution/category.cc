// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <algorithm>
#include <string_view>

#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"

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
  // A name of a library's own function says it nearly for certain. Where what lives on is told from what does not, two
  // things have to be true. What has no name at all and is gone soon is all that "temporary" means.
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
  // What is kept beyond its step is no activation: a cache, or a leak.
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

}  // namespace vramtrack
