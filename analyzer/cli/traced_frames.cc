// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/traced_frames.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

SymbolizerOptions OptionsWith(const std::vector<std::string>& search_paths) {
  SymbolizerOptions options;
  options.search.search_paths = search_paths;
  return options;
}

std::string Line(const ReportFrame& frame) {
  std::string line = Printable(frame.function);
  if (frame.origin == ReportFrame::Origin::kNode) return line + "  (backward)";
  if (!frame.file.empty()) absl::StrAppend(&line, "  ", Printable(frame.file), ":", frame.line);
  if (frame.inlined) line += "  (inlined)";
  if (frame.forward) line += "  (forward)";
  return line;
}

// The call itself: where it returns to may belong to the next function, even to no module.
uint64_t CallAddress(uint64_t return_address) { return return_address - 1; }

}  // namespace

TracedFrames::TracedFrames(const Definitions& definitions, const std::vector<std::string>& search_paths,
                           StackDetail detail)
    : definitions_(definitions), symbolizer_(OptionsWith(search_paths)), stacks_(definitions, &symbolizer_, detail) {}

ModuleRef TracedFrames::RefOf(int module) const {
  const TracedModule& traced = definitions_.modules.modules()[module];
  return {traced.path, traced.build_id};
}

const std::vector<std::string>& TracedFrames::Lines(uint32_t distinct_stack) {
  auto [at, is_new] = lines_.try_emplace(distinct_stack);
  if (!is_new) return at->second;
  for (const ReportFrame& frame : stacks_.Frames(distinct_stack)) at->second.push_back(Line(frame));
  if (definitions_.stacks.Get(distinct_stack).truncated()) at->second.push_back("(the stack was cut here)");
  return at->second;
}

std::vector<ModuleStatus> TracedFrames::ModulesOnStacks() {
  std::set<int> modules;
  for (size_t i = 0; i < definitions_.stacks.native_count(); ++i) {
    StackRef stack = definitions_.stacks.Native(i);
    for (size_t frame = 0; frame < stack.count; ++frame) {
      modules.insert(definitions_.modules.Find(CallAddress(stack.frames[frame]), stack.module_epoch));
    }
  }
  std::vector<ModuleStatus> statuses;
  for (int module : modules) {
    if (module >= 0) statuses.push_back(symbolizer_.Status(RefOf(module)));
  }
  return statuses;
}

}  // namespace vramtrack
