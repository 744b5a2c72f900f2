// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/frame_names.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {

const std::string& FileOf(const ReportFrame& frame) { return frame.shown_file.empty() ? frame.file : frame.shown_file; }

std::string FrameLabel(const ReportFrame& frame) {
  std::string label = Printable(frame.function);
  if (!frame.file.empty()) absl::StrAppend(&label, " (", Printable(FileOf(frame)), ":", frame.line, ")");
  return label;
}

}  // namespace vramtrack
