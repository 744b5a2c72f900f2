// SPDX-License-Identifier: Apache-2.0
//
// Why a run in which nothing leaks is not called clean.
#ifndef ANALYZER_FINDINGS_CORE_UNSURE_H_
#define ANALYZER_FINDINGS_CORE_UNSURE_H_

#include <string>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {

// Returns whether CUDA graphs were made after the last of few steps, and before it none.
bool StepsAreInGraphs(const ProcessAnalysis& analysis, const ProcessFindings& findings);

// Returns a sentence for each reason: sites that cannot be judged, blocks that are not seen, parts of the run without
// steps, steps that need more and more. `findings` must be complete but for this. `in_graphs`: StepsAreInGraphs.
std::vector<std::string> WhatIsUnsure(ProcessAnalysis* analysis, const ProcessFindings& findings, bool in_graphs);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_UNSURE_H_
