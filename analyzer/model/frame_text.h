// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_FRAME_TEXT_H_
#define ANALYZER_MODEL_FRAME_TEXT_H_

#include <string>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// "model/attention.cu:87", or "libfoo.so+0x12ab" where no line is known. Python files are named from the job's folder,
// or from their package on.
std::string FrameLocation(const ReportFrame& frame);

// The function, short; empty where FrameLocation says all that is known.
std::string FrameFunction(const ReportFrame& frame);

// The same as it follows the location, with what is between them: "  Attention::Forward", for Python " in step".
std::string FunctionBehindLocation(const ReportFrame& frame);

// One line a frame, function and location in two columns, `marked` in bold after an arrow. About `most` frames: those
// around `marked` stay, and so do all Python frames of the user's own code; lines say how many others there are. What
// calls main is left out.
std::vector<std::string> StackLines(const TextStyle& style, const std::vector<ReportFrame>& frames, size_t marked,
                                    size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_FRAME_TEXT_H_
