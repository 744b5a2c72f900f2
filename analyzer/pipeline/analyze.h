// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PIPELINE_ANALYZE_H_
#define ANALYZER_PIPELINE_ANALYZE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Everything that can be said about the processes whose traces are at `paths`: see report.h. The same traces and
// options give the same report. The error is one line that names the file and what to do; a damaged trace is no error
// as long as anything of it can be read.
absl::StatusOr<Report> Analyze(const std::vector<std::string>& paths, const AnalyzeOptions& options = {});

}  // namespace vramtrack

#endif  // ANALYZER_PIPELINE_ANALYZE_H_
