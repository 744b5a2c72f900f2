// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_ACTIVITY_FINDINGS_H_
#define ANALYZER_FINDINGS_ACTIVITY_FINDINGS_H_

#include <vector>

#include "analyzer/activity/activity_join.h"
#include "analyzer/findings/process_analysis.h"
#include "analyzer/report.h"

namespace vramtrack {

// What CUPTI's records say beside the hooked events of `trace`, after a replay with `join` among its observers.
ReportActivities DescribeActivities(const Trace& trace, const ActivityJoin& join);

// Says which libraries hold what only CUPTI saw of the devices' memory.
void DescribeUnseen(const ProcessAnalysis& analysis, std::vector<ReportDevice>* devices);

// Says in the explanation of a site that only CUPTI saw it.
void AddWhoSawIt(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_ACTIVITY_FINDINGS_H_
