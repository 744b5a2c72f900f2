// SPDX-License-Identifier: Apache-2.0
//
// Frames in the columns of tables.
#ifndef ANALYZER_EXPORT_FRAME_TEXTS_H_
#define ANALYZER_EXPORT_FRAME_TEXTS_H_

#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Null: no frame, and empty texts.
std::string FunctionText(const ReportFrame* frame);
// "FILE:LINE"; empty where the line is unknown.
std::string LineText(const ReportFrame* frame);
// A frame each: the function, and behind two spaces its line.
std::vector<std::string> FrameTexts(const std::vector<ReportFrame>& frames);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FRAME_TEXTS_H_
