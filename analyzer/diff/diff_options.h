// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_DIFF_OPTIONS_H_
#define ANALYZER_DIFF_DIFF_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/core/analyze_options.h"

namespace vramtrack {

struct DiffOptions {
  AnalyzeOptions analyze;  // of both runs
  // What the new run calls differently: (old, new) names of functions, of classes or namespaces, or of files.
  std::vector<std::pair<std::string, std::string>> renames;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_DIFF_OPTIONS_H_
