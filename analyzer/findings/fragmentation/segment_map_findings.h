// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_MAP_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_MAP_FINDINGS_H_

#include <cstddef>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Limit of the blocks of a map. If there are more, the smallest segments are left out.
constexpr size_t kMaxMapBlocks = 20000;

// Describes a segment map. Its sites are indices of analysis->groups(). Adjacent mappings count as one segment.
ReportSegmentMap DescribeSegmentMap(ProcessAnalysis* analysis, const torch_allocator::SegmentMap& map);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_MAP_FINDINGS_H_
