// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_KEPT_FINDINGS_H_
#define ANALYZER_FINDINGS_LEAKS_KEPT_FINDINGS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Points of a curve, at most.
constexpr size_t kMaxKeptPoints = 500;

// Says of each finding what its steps left behind, one after the other, and what its verdict was told by: of a leak as
// a whole, of sites that are neither leaks nor steady, and of none that left nothing. `sites`: one for each of the
// analysis' groups, part_of set, rates per step.
void DescribeKept(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_KEPT_FINDINGS_H_
