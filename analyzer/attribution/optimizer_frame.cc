// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/optimizer_frame.h"

#include <algorithm>

namespace vramtrack {
namespace {

// Folders and files whose functions take an optimizer's steps.
constexpr std::string_view kOptimizerFiles[] = {
    "torch/optim/",
    "torch/distributed/optim/",
    "torch/cuda/amp/grad_scaler.py",
    "torch/amp/grad_scaler.py",
    "transformers/optimization.py",
    "transformers/trainer_pt_utils.py",
    "accelerate/optimizer.py",
    "deepspeed/runtime/zero/",
    "deepspeed/runtime/bf16_optimizer.py",
    "deepspeed/runtime/fp16/",
    "deepspeed/ops/adam/",
    "deepspeed/ops/lion/",
    "apex/optimizers/",
    "bitsandbytes/optim/",
    "pytorch_lightning/core/optimizer.py",
    "lightning/pytorch/core/optimizer.py",
    "lightning/pytorch/plugins/precision/",
};

}  // namespace

bool IsOptimizerFile(std::string_view file) {
  return std::any_of(std::begin(kOptimizerFiles), std::end(kOptimizerFiles), [file](std::string_view part) {
    const size_t at = file.find(part);
    return at != std::string_view::npos && (at == 0 || file[at - 1] == '/');
  });
}

bool IsOptimizerFrame(std::string_view file, std::string_view function) {
  if (!IsOptimizerFile(file)) return false;
  // All that a step calls lies below it; other functions of these files are zero_grad, state_dict and the like.
  return function == "step" || function == "_step" || function == "wrapper" || function == "_maybe_opt_step" ||
         function == "optimizer_step";
}

}  // namespace vramtrack
