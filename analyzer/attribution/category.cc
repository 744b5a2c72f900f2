// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <algorithm>
#include <string_view>

#include "analyzer/attribution/glue.h"

namespace vramtrack {
namespace {

struct PythonRule {
  std::string_view folder;    // part of the file's path
  std::string_view function;  // the last part of its name
  const char* category;
};

constexpr PythonRule kPythonRules[] = {
    {"/torch/optim/", "_init_group", "optimizer_state"},
    {"/torch/nn/modules/", "__init__", "parameter"},
    {"/torch/nn/modules/module.py", "_apply", "parameter"},  // cuda(), to(), half()
};

constexpr std::string_view kWorkspaces[] = {"allocateCUDABlasWorkspace", "CublasLtWorkspace"};

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::string CategoryOf(const std::vector<ReportFrame>& frames) {
  bool backward = false;
  for (const ReportFrame& frame : frames) {
    if (frame.origin == ReportFrame::Origin::kNode) return "gradient";  // what is behind it was long before
    if (frame.language == "python") {
      const std::string_view function = std::string_view(frame.function).substr(frame.function.rfind('.') + 1);
      for (const PythonRule& rule : kPythonRules) {
        if (rule.function == function && Contains(frame.file, rule.folder)) return rule.category;
      }
      continue;
    }
    if (std::any_of(std::begin(kWorkspaces), std::end(kWorkspaces),
                    [&](std::string_view name) { return Contains(frame.function, name); })) {
      return "workspace";
    }
    backward |= !GraphNodeName(frame).empty();
  }
  return backward ? "gradient" : "";
}

}  // namespace vramtrack
