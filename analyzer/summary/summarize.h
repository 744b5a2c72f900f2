// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_SUMMARIZE_H_
#define ANALYZER_SUMMARY_SUMMARIZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

// What the trace at `path` says of its process. The error is one line.
absl::StatusOr<ProcessSummary> SummarizeProcess(const std::string& path, const AnalyzeOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARIZE_H_
