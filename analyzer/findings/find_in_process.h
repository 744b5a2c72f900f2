// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FIND_IN_PROCESS_H_
#define ANALYZER_FINDINGS_FIND_IN_PROCESS_H_

#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {

// Returns all findings on one process.
ProcessFindings FindInProcess(const Trace& trace, const AnalyzeOptions& options);
// Returns the same findings, for callers that use the analysis further. `extra`: a collector that follows the same
// replay after the report's own collectors; may be null.
ProcessFindings FindInAnalysis(ProcessAnalysis* analysis, Collector* extra = nullptr);

// Returns what the first replay alone tells, see FollowedProcess.
ProcessFindings FindVerdicts(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FIND_IN_PROCESS_H_
