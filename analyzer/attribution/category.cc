// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <algorithm>
#include <string_view>

#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/optimizer_frame.h"

namespace vramtrack {
namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view LastPart(std::string_view function) { return function.substr(function.rfind('.') + 1); }

bool IsSetup(std::string_view file, std::string_view function) {
  constexpr std::string_view kMoves[] = {"to",      "cuda",   "_apply",           "half",
                                         "float",   "double", "bfloat16",         "to_empty",
                                         "convert", "type",   "reset_parameters", "load_state_dict"};
  if (Has(file, "torch/nn/init.py") || Has(file, "torch/nn/parameter.py")) return true;
  if (Has(file, "torch/nn/modules/")) {
    return function == "__init__" || std::find(std::begin(kMoves), std::end(kMoves), function) != std::end(kMoves);
  }
  return Has(file, "transformers/modeling_utils.py") &&
         (function == "from_pretrained" || function == "_load_state_dict");
}

void AddPython(const ReportFrame& frame, StackTraits* traits) {
  const std::string_view file = frame.file, function = LastPart(frame.function);
  // The forward pass that made the node says what for, not when.
  if (frame.forward) return;
  traits->communication |= Has(file, "torch/distributed/");
  traits->optimizer |= IsOptimizerFrame(file, function);
  traits->data_loader |= Has(file, "torch/utils/data/");
  traits->pins |= Has(file, "torch/utils/data/_utils/pin_memory.py");
  traits->setup |= IsSetup(file, function);
  traits->module |= function == "forward" || (Has(file, "torch/nn/modules/module.py") && function == "_call_impl");
  traits->backward |= Has(file, "torch/autograd/__init__.py") && function == "backward";
}

void AddNative(const ReportFrame& frame, StackTraits* traits) {
  const std::string_view function = frame.function;
  traits->communication |= function.substr(0, 4) == "nccl" || function.substr(0, 5) == "pnccl" ||
                           Has(function, "c10d::") || Has(function, "ncclMemAlloc") || Has(frame.module, "libnccl.so");
  traits->workspace |= Has(function, "orkspace") || Has(function, "cublasCreate") || Has(function, "cublasLtCreate") ||
                       Has(function, "getCurrentCUDABlasHandle") || Has(function, "cudnnCreate");
  traits->backward |= frame.origin == ReportFrame::Origin::kNode || !GraphNodeName(frame).empty() ||
                      Has(function, "torch::autograd::Engine::evaluate_function");
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
