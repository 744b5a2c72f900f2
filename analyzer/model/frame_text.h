// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_FRAME_TEXT_H_
#define ANALYZER_MODEL_FRAME_TEXT_H_

#include <string>
#include <typeinfo>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the name of a struct in schemas: "Site" for vramtrack::ReportSite, "AcrossRate" for ReportAcross::Rate.
std::string TypeName(const std::type_info& type);
template <class T>
std::string TypeName() {
  return TypeName(typeid(T));
}

// Returns the location of a frame, such as "model/attention.cu:87", or "libfoo.so+0x12ab" if the line is unknown. Paths
// of Python files start at the job's folder or at their package.
std::string FrameLocation(const ReportFrame& frame);

// Returns the short name of the function; empty if FrameLocation already says all that is known.
std::string FrameFunction(const ReportFrame& frame);

// Returns the function with its separator, as it follows the location: "  Attention::Forward", or " in step" for
// Python.
std::string FunctionBehindLocation(const ReportFrame& frame);

// Returns location and function; "(no stack recorded)" for null.
std::string FramePlace(const ReportFrame* frame);

// The parts of FramePlace, and the function with its separator.
struct CodePlace {
  std::string location, function, behind;
};
CodePlace PlaceOf(const ReportFrame* frame);

// Returns the place of the frame that names a stack; "an unknown place" for an empty one.
std::string StackPlace(const std::vector<ReportFrame>& stack);

// Returns one line for each frame, with function and location in two columns, and `marked` in bold after an arrow.
// Keeps about `most` frames: those around `marked`, and all Python frames of the user's own code. Other lines say how
// many frames were left out. Callers of main are left out.
std::vector<std::string> StackLines(const TextStyle& style, const std::vector<ReportFrame>& frames, size_t marked,
                                    size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_FRAME_TEXT_H_
