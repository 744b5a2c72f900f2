// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_FRAME_NAMES_H_
#define ANALYZER_EXPORT_FRAME_NAMES_H_

#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the file as reports show it.
const std::string& FileOf(const ReportFrame& frame);

// Returns the function, for a column of a table; empty if `frame` is null.
std::string FunctionText(const ReportFrame* frame);
// Returns "FILE:LINE"; empty if `frame` is null or the line is unknown.
std::string LineText(const ReportFrame* frame);
// Returns one text per frame: the function, two spaces and the line.
std::vector<std::string> FrameTexts(const std::vector<ReportFrame>& frames);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FRAME_NAMES_H_
