// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/trace_text.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "analyzer/base/display_text.h"
#include "proto/schema_constants.h"

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
  return {traced.path, traced.build_id, traced.text_hash, traced.file_bytes, traced.modified_ns};
}

const std::vector<std::string>& TracedFrames::Lines(StackIndex stack) {
  auto [at, is_new] = lines_.try_emplace(stack);
  if (!is_new) return at->second;
  for (const ReportFrame& frame : stacks_.Frames(stack)) at->second.push_back(Line(frame));
  if (definitions_.stacks.Get(stack).truncated()) at->second.push_back("(the stack was cut here)");
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

namespace {

struct Name {
  uint32_t kind, operation;
  const char* name;
};

// The numbers are CUPTI's, as cupti_activity.h has them.
constexpr Name kNames[] = {
    {schema::ACTIVITY_MEMORY, 1, "allocated"},    {schema::ACTIVITY_MEMORY, 2, "released"},
    {schema::ACTIVITY_MEMORY_POOL, 1, "created"}, {schema::ACTIVITY_MEMORY_POOL, 2, "destroyed"},
    {schema::ACTIVITY_MEMORY_POOL, 3, "trimmed"},
};

}  // namespace

std::string ActivityName(uint32_t kind) {
  const char* name = schema::ActivityKindName(kind);
  return name != nullptr ? std::string(absl::StripPrefix(name, "activity_")) : "activity " + std::to_string(kind);
}

const char* ActivityOperationName(uint32_t kind, uint32_t operation) {
  for (const Name& each : kNames) {
    if (each.kind == kind && each.operation == operation) return each.name;
  }
  return "";
}

void InfoRow(const std::string& label, const std::string& text, Page* page, Paint paint) {
  if (!text.empty()) page->Words(text, kInfoLabelColumns, paint, "  " + label);
}

}  // namespace vramtrack
