// SPDX-License-Identifier: Apache-2.0
//
// Finds devices whose framework reserves more segments step after step while the bytes in its blocks do not grow: one
// finding for each device, with its cause. docs/fragmentation.md explains it.
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

// Returns the growth by device, only for devices with a framework's level on which reserved bytes grow and live bytes
// do not. Empty without steps.
std::map<DeviceIndex, ReserveGrowth> GrowthOfReserves(const ProcessAnalysis& analysis);

// Returns the pins by the line that represents them, most bytes first.
std::vector<ReportPin> DescribePins(ProcessAnalysis* analysis, const std::vector<torch_allocator::Pin>& pins);

// Describes the growth of a device. `maps`: its segment maps, from a replay that was given the growth.
ReportReserveGrowth DescribeReserveGrowth(ProcessAnalysis* analysis, DeviceIndex device, const ReserveGrowth& growth,
                                          const torch_allocator::PeakSegments::Result& maps);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_RESERVE_FINDINGS_H_
