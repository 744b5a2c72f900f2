// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_FRAME_NAMES_H_
#define ANALYZER_EXPORT_FRAME_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/export/exported_process.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the file as reports show it.
const std::string& FileOf(const ReportFrame& frame);

// Returns a label such as "forward (model.py:31)", for formats that only have names.
std::string FrameLabel(const ReportFrame& frame);

// Returns the function, for a column of a table; empty if `frame` is null.
std::string FunctionText(const ReportFrame* frame);
// Returns "FILE:LINE"; empty if `frame` is null or the line is unknown.
std::string LineText(const ReportFrame* frame);
// Returns one text per frame: the function, two spaces and the line.
std::vector<std::string> FrameTexts(const std::vector<ReportFrame>& frames);

struct ModuleStack {
  std::string device;               // "cuda:0 at step 48, walk 2"
  std::vector<std::string> frames;  // outermost first; the last one is the category or what holds the blocks
  uint64_t value = 0;
};

// Returns the live memory of each device of a process by module, at its walk nearest to the peak. The error is one
// line: no walk of the trace saw a device.
absl::StatusOr<std::vector<ModuleStack>> ModuleStacks(ExportedProcess& process);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FRAME_NAMES_H_
