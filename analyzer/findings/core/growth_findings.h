// SPDX-License-Identifier: Apache-2.0
//
// Describes the growth of a process: by lines, which add up; how fast a device fills up; and when it is full, if what
// grows allows a prediction.
#ifndef ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_

#include <optional>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the seconds per step in the later half of the run, as the first steps are often slower. None with fewer than
// two steps or without a measurable time.
std::optional<double> SecondsPerStep(const ProcessAnalysis& analysis);

// Returns the bytes that live allocations can use on a device of `total` bytes: without the context, other processes
// and the driver's granularity.
double BytesForLive(const Scope& scope, uint64_t total);

// Fills in the growth of `device` and who grew. Its other figures must be complete.
void DescribeGrowth(const ProcessAnalysis& analysis, ReportDevice* device);

// Fills in the growth of pinned memory and of handles.
void DescribeOtherGrowth(const ProcessAnalysis& analysis, ProcessFindings* findings);

// Adds why the run is not clean although no leak is known: lines that may leak, the suspect first, and facts about the
// run. The sites of `findings` must be complete.
void DescribeReasons(ProcessAnalysis* analysis, ProcessFindings* findings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_GROWTH_FINDINGS_H_
