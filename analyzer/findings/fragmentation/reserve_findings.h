// SPDX-License-Identifier: Apache-2.0
//
// Segments that a framework's allocator takes step after step while what it hands out does not grow: one finding for a
// device, with what drives it. docs/fragmentation.md explains it.
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_RESERVE_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_RESERVE_FINDINGS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"
#include "analyzer/leaks/reserve_growth.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// By device; only devices with a framework's level on which that is so. None without steps.
std::map<DeviceIndex, ReserveGrowth> GrowthOfReserves(const ProcessAnalysis& analysis);

// Pins by the line that stands for them, the most bytes first.
std::vector<ReportPin> DescribePins(ProcessAnalysis* analysis, const std::vector<torch_allocator::Pin>& pins);

// `maps`: of the device, from a replay that was told of the growth.
ReportReserveGrowth DescribeReserveGrowth(ProcessAnalysis* analysis, DeviceIndex device, const ReserveGrowth& growth,
                                          const torch_allocator::PeakSegments::Maps& maps);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_RESERVE_FINDINGS_H_
