// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_DIFF_H_
#define ANALYZER_DIFF_DIFF_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

struct DiffOptions {
  AnalyzeOptions analyze;  // options for both runs
  // Renames in the new run: (old, new) names of functions, of classes or namespaces, or of files.
  std::vector<std::pair<std::string, std::string>> renames;
};

// Compares two runs. Each is given as the traces or summaries of its processes. The same traces and options give the
// same report. The error is one line that names the file and what to do. Runs that have nothing in common are not an
// error; the report is then not `comparable`.
absl::StatusOr<DiffReport> Diff(const std::vector<std::string>& base_paths, const std::vector<std::string>& next_paths,
                                const DiffOptions& options = {});

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_DIFF_H_
