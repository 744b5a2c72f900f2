// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_FRAME_NAMES_H_
#define ANALYZER_EXPORT_FRAME_NAMES_H_

#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// The file as reports show it.
const std::string& FileOf(const ReportFrame& frame);

// "forward (model.py:31)", for formats that only have names.
std::string FrameLabel(const ReportFrame& frame);

// The function, for a column of a table; empty for null.
std::string FunctionText(const ReportFrame* frame);
// "FILE:LINE"; empty for null or an unknown line.
std::string LineText(const ReportFrame* frame);
// One text per frame: the function, two spaces and the line.
std::vector<std::string> FrameTexts(const std::vector<ReportFrame>& frames);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FRAME_NAMES_H_
