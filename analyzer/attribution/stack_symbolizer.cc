// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/stack_symbolizer.h"

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/library.h"

namespace vramtrack {

// A return address is behind the call, which may be the last instruction of its module.
int StackSymbolizer::ModuleAt(uint64_t return_address, uint32_t module_epoch) const {
  return definitions_.modules.Find(return_address - 1, module_epoch);
}

StackRef StackSymbolizer::Trimmed(uint32_t distinct_stack) {
  const StackRef whole = definitions_.stacks.Get(distinct_stack);
  StackRef stack = whole;
  while (stack.count > 0) {
    const int module = ModuleAt(stack.frames[0], stack.module_epoch);
    if (module < 0 || !IsAllocationPlumbing(definitions_.modules.modules()[static_cast<size_t>(module)].path)) break;
    ++stack.frames;
    --stack.count;
  }
  // A runtime that is part of the program is told by its functions' names.
  for (std::string inner; stack.count > 0;) {
    std::string function = Frame(stack.frames[0], stack.module_epoch).back().function;
    if (!IsStaticRuntime(function, inner)) break;
    inner = std::move(function);
    ++stack.frames;
    --stack.count;
  }
  return stack.count > 0 ? stack : whole;
}

std::vector<ReportFrame> StackSymbolizer::Frame(uint64_t return_address, uint32_t module_epoch) {
  std::vector<ReportFrame> frames;
  const int index = ModuleAt(return_address, module_epoch);
  if (index < 0) {
    ReportFrame frame;
    frame.function = absl::StrCat("0x", absl::Hex(return_address));
    frame.offset = return_address;
    frame.language = "unknown";
    frames.push_back(std::move(frame));
    return frames;
  }
  const TracedModule& module = definitions_.modules.modules()[static_cast<size_t>(index)];
  const ModuleRef ref = {module.path, module.build_id};
  for (const vramtrack::Frame& found : symbolizer_->Symbolize(ref, return_address - module.load_bias, true)) {
    ReportFrame frame;
    frame.function = found.function;
    frame.file = found.file;
    frame.line = found.line;
    frame.module = found.module;
    frame.language = found.language;
    frame.offset = found.offset;
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::vector<ReportFrame> StackSymbolizer::Frames(uint32_t distinct_stack) {
  const StackRef stack = Trimmed(distinct_stack);
  std::vector<ReportFrame> frames;
  for (size_t i = 0; i < stack.count; ++i) {
    for (ReportFrame& frame : Frame(stack.frames[i], stack.module_epoch)) frames.push_back(std::move(frame));
  }
  return frames;
}

std::string StackSymbolizer::Owner(uint32_t distinct_stack) const {
  const StackRef stack = definitions_.stacks.Get(distinct_stack);
  for (size_t i = 0; i < stack.count; ++i) {
    const int module = ModuleAt(stack.frames[i], stack.module_epoch);
    if (module < 0) continue;
    const std::string& path = definitions_.modules.modules()[static_cast<size_t>(module)].path;
    if (!IsAllocationPlumbing(path)) return std::string(ModuleName(path));
  }
  return "";
}

}  // namespace vramtrack
