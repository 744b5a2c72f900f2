// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_ANALYSIS_FINDINGS_H_
#define ANALYZER_FINDINGS_ANALYSIS_FINDINGS_H_

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/process_findings.h"

namespace vramtrack {

// As FindInProcess, for callers that ask the analysis more themselves, afterwards.
ProcessFindings FindInAnalysis(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_ANALYSIS_FINDINGS_H_
