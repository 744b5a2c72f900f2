// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <algorithm>
#include <string_view>

#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/optimizer_frame.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/symbols/affix.h"

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
    if (frame.language == "python") {
      AddPython(frame, &traits);
    } else {
      AddNative(frame, &traits);
    }
  }
  traits.accumulate = node == schema::NODE_ACCUMULATE;
  traits.backward |= node != schema::NODE_NONE;
  return traits;
}

const char* CategoryOf(const StackTraits& traits, const SiteLifetime& lifetime, bool host) {
  if (host) return traits.pins || traits.data_loader ? "input" : "pinned";
  if (traits.communication) return "communication";
  if (traits.workspace) return "workspace";
  if (traits.accumulate) return "gradients";
  const bool lasting = lifetime.kept || lifetime.across_steps;
  const char* const brief = lifetime.in_steps ? "temporary" : "unknown";
  if (traits.optimizer) return lasting ? "optimizer_state" : brief;
  // A gradient is allocated by the node before, and taken over where it is the first.
  if (traits.backward) return lasting ? "gradients" : brief;
  if (traits.setup && lifetime.kept) return "parameters";
  if (traits.data_loader) return "input";
  if (traits.module) return "activations";
  return lasting ? "unknown" : brief;
}

}  // namespace vramtrack
