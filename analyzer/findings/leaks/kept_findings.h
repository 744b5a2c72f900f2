// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_KEPT_FINDINGS_H_
#define ANALYZER_FINDINGS_LEAKS_KEPT_FINDINGS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Adds to each finding what its steps left live, step by step, and the evidence for its verdict. Covers leaks as a
// whole and sites that are neither leaks nor steady, but no site that left nothing. `sites`: one for each of the
// analysis' groups, with rates per step; they know which of them are one leak.
void DescribeKept(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_KEPT_FINDINGS_H_
