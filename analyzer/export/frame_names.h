// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_FRAME_NAMES_H_
#define ANALYZER_EXPORT_FRAME_NAMES_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// The file as reports show it.
const std::string& FileOf(const ReportFrame& frame);

// "forward (model.py:31)", for formats that have a name and nothing else.
std::string FrameLabel(const ReportFrame& frame);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FRAME_NAMES_H_
