// SPDX-License-Identifier: Apache-2.0
//
// What the driver's pools of stream-ordered memory need, and what they may hold back. docs/fragmentation.md explains
// it.
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/memory_pools.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// `pools` has followed a replay.
void DescribeMemoryPools(const ProcessAnalysis& analysis, MemoryPools* pools, std::vector<ReportDevice>* devices);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_
