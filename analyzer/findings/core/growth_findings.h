// SPDX-License-Identifier: Apache-2.0
//
// How fast a device fills up and when it is full, where the sites that make it grow let that be told.
#ifndef ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Fills the growth of `device`, whose other figures are there.
void DescribeGrowth(const ProcessAnalysis& analysis, ReportDevice* device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_
