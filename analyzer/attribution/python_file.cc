// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/python_file.h"

#include <algorithm>

#include "analyzer/base/affix.h"

namespace vramtrack {
namespace {

// Packages that PyTorch's wheel brings, and the compiler that it depends on.
constexpr std::string_view kPyTorch[] = {"torch", "functorch", "torchgen", "triton"};

// What follows the last folder of installed packages; empty if the path has none.
std::string_view InPackages(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return path.substr(at + folder.size());
  }
  return {};
}

// What follows ".../lib/python3.11/"; empty without such a folder.
std::string_view InStandardLibrary(std::string_view path) {
  for (const std::string_view folder : {"/lib/python3", "/lib64/python3"}) {
    for (size_t at = path.find(folder); at != std::string_view::npos; at = path.find(folder, at + 1)) {
      const size_t version_end = path.find_first_not_of("0123456789.t", at + folder.size());
      if (version_end != std::string_view::npos && path[version_end] == '/') return path.substr(version_end + 1);
    }
  }
  return {};
}

}  // namespace

bool IsPythonLibrary(std::string_view path) {
  // Code that was made at run time, but for that of `python -c`, of standard input and of notebooks.
  if (StartsWith(path, "<")) return path != "<string>" && path != "<stdin>" && !StartsWith(path, "<ipython-input");
  if (path.find("/torchinductor_") != std::string_view::npos) return true;  // what torch.compile wrote
  if (const std::string_view package = PythonPackage(path); !package.empty()) {
    return std::find(std::begin(kPyTorch), std::end(kPyTorch), package) != std::end(kPyTorch);
  }
  return !InStandardLibrary(path).empty();
}

std::string_view PythonPackage(std::string_view path) {
  const std::string_view package = InPackages(path);
  return package.substr(0, package.find('/'));
}

bool IsInstalledPython(std::string_view path) {
  return !PythonPackage(path).empty() || Contains(path, "/transformers_modules/");
}

bool IsStarter(const ReportFrame& frame, const ReportFrame& called) {
  if (frame.function != "<module>") return false;
  if (frame.file == "<string>") return Contains(called.file, "/multiprocessing/");
  // "/env/bin/torchrun", without the ending that a program of one's own has.
  const std::string_view path = frame.file;
  const size_t name = path.rfind('/') + 1;
  if (path.find('.', name) != std::string_view::npos || !EndsWith(path.substr(0, name), "/bin/")) return false;
  return called.installed || called.origin == ReportFrame::Origin::kLibrary;
}

std::string_view UnqualifiedName(std::string_view function) {
  return function.substr(function.rfind('.') + 1);  // npos + 1 is 0
}

std::string_view ShownPythonFile(std::string_view path, std::string_view working_directory) {
  if (const std::string_view package = InPackages(path); !package.empty()) return package;
  if (const std::string_view module = InStandardLibrary(path); !module.empty()) return module;
  const size_t length = working_directory.size();
  if (length > 1 && path.size() > length + 1 && StartsWith(path, working_directory) && path[length] == '/') {
    return path.substr(length + 1);
  }
  return path;
}

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
  // A step calls nothing outside it; other functions of these files are zero_grad, state_dict and the like.
  return function == "step" || function == "_step" || function == "wrapper" || function == "_maybe_opt_step" ||
         function == "optimizer_step";
}

}  // namespace vramtrack
