// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/frame_names.h"

#include "absl/strings/str_cat.h"

namespace vramtrack {

const std::string& FileOf(const ReportFrame& frame) { return frame.shown_file.empty() ? frame.file : frame.shown_file; }

std::string FunctionText(const ReportFrame* frame) { return frame == nullptr ? "" : frame->function; }

std::string LineText(const ReportFrame* frame) {
  return frame == nullptr || frame->line == 0 ? "" : absl::StrCat(frame->file, ":", frame->line);
}

std::vector<std::string> FrameTexts(const std::vector<ReportFrame>& frames) {
  std::vector<std::string> texts;
  for (const ReportFrame& frame : frames) {
    const std::string line = LineText(&frame);
    texts.push_back(absl::StrCat(frame.function, line.empty() ? "" : "  ", line));
  }
  return texts;
}

}  // namespace vramtrack
