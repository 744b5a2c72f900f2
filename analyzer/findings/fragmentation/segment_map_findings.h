// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_MAP_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_MAP_FINDINGS_H_

#include <cstddef>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/torch_allocator/segment_map.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Blocks of a map, at most; the smallest segments are left out where there are more.
constexpr size_t kMaxMapBlocks = 20000;

// Sites are indices of analysis->groups(). Mappings that follow each other are one segment.
ReportSegmentMap DescribeSegmentMap(ProcessAnalysis* analysis, const torch_allocator::SegmentMap& map);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_MAP_FINDINGS_H_
