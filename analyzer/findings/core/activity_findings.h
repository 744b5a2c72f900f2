// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_

#include <vector>

#include "analyzer/cupti/activity_join.h"
#include "analyzer/cupti/device_use.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// What CUPTI's records say beside the hooked events of `trace`, after a replay with `join` among its observers.
ReportActivities DescribeActivities(const Trace& trace, const ActivityJoin& join);

// Says which libraries hold what only CUPTI saw of the devices' memory.
void DescribeUnseen(const ProcessAnalysis& analysis, std::vector<ReportDevice>* devices);

// Sites whose use is of interest, by group of `analysis`: those of leaks; empty for other groups.
std::vector<std::vector<uint32_t>> SitesToFollow(const ProcessAnalysis& analysis);

// What ran on the devices, and how late leaks were used. `sites` are those of the groups.
void DescribeUse(const ProcessAnalysis& analysis, const DeviceUse& use, std::vector<ReportDevice>* devices,
                 std::vector<ReportSite>* sites);

// Says in the explanation of a site that only CUPTI saw it.
void AddWhoSawIt(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_
