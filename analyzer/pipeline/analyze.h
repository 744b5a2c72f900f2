// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PIPELINE_ANALYZE_H_
#define ANALYZER_PIPELINE_ANALYZE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Analyses the processes whose traces are at `paths`. The same traces and options give the same report. The error is
// one line that names the file and what to do. A damaged trace is not an error as long as part of it can be read.
absl::StatusOr<Report> Analyze(const std::vector<std::string>& paths, const AnalyzeOptions& options = {});

}  // namespace vramtrack

#endif  // ANALYZER_PIPELINE_ANALYZE_H_
