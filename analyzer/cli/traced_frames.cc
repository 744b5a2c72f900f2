// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/traced_frames.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/render/display_text.h"

namespace vramtrack {
namespace {

SymbolizerOptions OptionsWith(const std::vector<std::string>& search_paths) {
  SymbolizerOptions options;
  options.search.search_paths = search_paths;
  return options;
}

std::string Line(const Frame& frame) {
  std::string line = Printable(frame.function);
  if (!frame.file.empty()) absl::StrAppend(&line, "  ", Printable(frame.file), ":", frame.line);
  if (frame.inlined) line += "  (inlined)";
  return line;
}

// The call itself: where it returns to may belong to the next function, even to no module.
uint64_t CallAddress(uint64_t return_address) { return return_address - 1; }

}  // namespace

TracedFrames::TracedFrames(const Definitions& definitions, const std::vector<std::string>& search_paths)
    : definitions_(definitions), symbolizer_(OptionsWith(search_paths)) {}

ModuleRef TracedFrames::RefOf(int module) const {
  const TracedModule& traced = definitions_.modules.modules()[module];
  return {traced.path, traced.build_id};
}

const std::vector<std::string>& TracedFrames::Lines(uint32_t distinct_stack) {
  auto [at, is_new] = lines_.try_emplace(distinct_stack);
  if (!is_new) return at->second;
  StackRef stack = definitions_.stacks.Get(distinct_stack);
  for (size_t i = 0; i < stack.count; ++i) {
    uint64_t address = stack.frames[i];
    int module = definitions_.modules.Find(CallAddress(address), stack.module_epoch);
    if (module < 0) {
      at->second.push_back(absl::StrFormat("0x%x", address));
      continue;
    }
    uint64_t load_bias = definitions_.modules.modules()[module].load_bias;
    for (const Frame& frame : symbolizer_.Symbolize(RefOf(module), address - load_bias, true)) {
      at->second.push_back(Line(frame));
    }
  }
  if (stack.truncated) at->second.push_back("(the stack was cut here)");
  return at->second;
}

std::vector<ModuleStatus> TracedFrames::ModulesOnStacks() {
  std::set<int> modules;
  for (uint32_t i = 0; i < definitions_.stacks.distinct_count(); ++i) {
    StackRef stack = definitions_.stacks.Get(i);
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
