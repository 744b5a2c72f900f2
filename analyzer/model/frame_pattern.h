// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_FRAME_PATTERN_H_
#define ANALYZER_MODEL_FRAME_PATTERN_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// Selects frames by patterns, in which * stands for any text, / included, and ? for any character. An empty pattern
// fits every frame; of several, all must fit.
struct FramePattern {
  std::string function;  // the whole name, or the short name that reports show
  std::string file;      // a source file, from any of its folders on
  std::string library;   // the binary with the code, from any of its folders on

  bool empty() const { return function.empty() && file.empty() && library.empty(); }
  bool Matches(const ReportFrame& frame) const;
};

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_FRAME_PATTERN_H_
