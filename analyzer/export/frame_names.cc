// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/frame_names.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

const std::string& FileOf(const ReportFrame& frame) { return frame.shown_file.empty() ? frame.file : frame.shown_file; }

std::string FrameLabel(const ReportFrame& frame) {
  std::string label = Printable(frame.function);
  if (!frame.file.empty()) absl::StrAppend(&label, " (", Printable(FileOf(frame)), ":", frame.line, ")");
  return label;
}

std::string FunctionText(const ReportFrame* frame) { return frame == nullptr ? "" : Printable(frame->function); }

std::string LineText(const ReportFrame* frame) {
  return frame == nullptr || frame->line == 0 ? "" : Printable(absl::StrCat(frame->file, ":", frame->line));
}

std::vector<std::string> FrameTexts(const std::vector<ReportFrame>& frames) {
  std::vector<std::string> texts;
  for (const ReportFrame& frame : frames) {
    const std::string line = LineText(&frame);
    texts.push_back(absl::StrCat(FunctionText(&frame), line.empty() ? "" : "  ", line));
  }
  return texts;
}

namespace {

std::vector<std::string> FramesOf(const ReportModuleMemory::Part& part) {
  const std::string category = absl::StrReplaceAll(part.category, {{"_", " "}});
  if (part.source != CategorySource::kWalk) return {"not found by the walk", category};
  std::vector<std::string> frames = part.module;
  if (frames.empty()) frames = {"in no module", category};
  if (!part.name.empty()) {
    frames.push_back(part.name);
  } else if (!part.module.empty()) {
    frames.push_back(category);
  }
  return frames;
}

}  // namespace

absl::StatusOr<std::vector<ModuleStack>> ModuleStacks(ExportedProcess& process) {
  std::vector<ModuleStack> stacks;
  const bool bytes = process.options().value == "inuse_space";
  for (const ReportDevice& device : process.summary().findings.devices) {
    if (!device.module_memory) continue;
    const ReportModuleMemory& memory = *device.module_memory;
    const std::string when = memory.step ? absl::StrCat("step ", *memory.step) : FormatSeconds(memory.seconds);
    const std::string name = absl::StrCat("cuda:", device.index, " at ", when, ", walk ", memory.walk);
    for (const ReportModuleMemory::Part& part : memory.parts) {
      stacks.push_back({name, FramesOf(part), bytes ? part.bytes : part.objects});
    }
    if (bytes && memory.other_bytes > 0) {
      stacks.push_back({name, {absl::StrCat(memory.other_parts, " smaller parts")}, memory.other_bytes});
    }
  }
  if (!stacks.empty()) return stacks;
  return absl::InvalidArgumentError(
      absl::StrCat(process.trace().path(), ": no walk knows its modules (record with 'vramtrack run --holders')"));
}

}  // namespace vramtrack
