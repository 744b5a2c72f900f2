// SPDX-License-Identifier: Apache-2.0
//
// How fast a device fills up and when it is full, where the sites that make it grow let that be told.
#ifndef ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_

#include <optional>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// What a step takes, by the later half of the run: the first steps are often slower. None: fewer than two steps, or no
// time that could be measured.
std::optional<double> SecondsPerStep(const ProcessAnalysis& analysis);

// What a device of `total` bytes has for what is live on it: not the context, other processes, the driver's
// granularity.
double BytesForLive(const Scope& scope, uint64_t total);

// Fills the growth of `device`, whose other figures are there.
void DescribeGrowth(const ProcessAnalysis& analysis, ReportDevice* device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_
