// SPDX-License-Identifier: Apache-2.0
//
// What a framework's allocator makes of the driver's memory: how its segments were used at the peak, who keeps them,
// and what would have helped, each tried on a model of the allocator. docs/fragmentation.md explains it.
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_FINDINGS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"
#include "analyzer/leaks/reserve_growth.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Before the second replay: has `segments` keep the requests to devices whose allocator gave up, or reserved much that
// was not used.
void RecordRequests(const ProcessAnalysis& analysis, torch_allocator::PeakSegments* segments);

// `segments` has followed the second replay. Tries other settings on the requests that it has kept. `growing`: what
// GrowthOfReserves found, and `segments` was told of. `oom`: one for each of the ledger's out_of_memory(), in order.
void DescribeSegments(ProcessAnalysis* analysis, torch_allocator::PeakSegments* segments,
                      const std::map<uint32_t, ReserveGrowth>& growing, std::vector<ReportDevice>* devices,
                      std::vector<ReportOom>* oom);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_FINDINGS_H_
