// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/frame_texts.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {

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

}  // namespace vramtrack
