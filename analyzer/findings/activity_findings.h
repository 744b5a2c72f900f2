// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_ACTIVITY_FINDINGS_H_
#define ANALYZER_FINDINGS_ACTIVITY_FINDINGS_H_

#include <vector>

#include "analyzer/activity/activity_join.h"
#include "analyzer/report.h"

namespace vramtrack {

// What CUPTI's records say beside the hooked events of `trace`, after a replay with `join` among its observers.
ReportActivities DescribeActivities(const Trace& trace, const ActivityJoin& join);

// Names what of the devices' unattributed bytes CUPTI saw being allocated.
void NameUnattributed(const ActivityJoin& join, std::vector<ReportDevice>* devices);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_ACTIVITY_FINDINGS_H_
