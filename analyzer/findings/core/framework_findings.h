// SPDX-License-Identifier: Apache-2.0
//
// What the two levels of a device say about each other: a framework's blocks, and the segments that the driver gave it.
#ifndef ANALYZER_FINDINGS_CORE_FRAMEWORK_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_FRAMEWORK_FINDINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/fragmentation/framework_check.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/reserve_growth.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Per step; none where it does not grow.
struct FrameworkGrowth {
  std::optional<Growth> live;      // of blocks
  std::optional<Growth> reserved;  // of segments

  // Whether what is live is a reason for more segments.
  bool needs_segments() const { return !IsFlatBeside(live, reserved); }
};

// By device; only devices with a framework's level.
std::map<DeviceIndex, FrameworkGrowth> GrowthOfFrameworks(const Ledger& ledger, const RunShape& run);

// Whether what the site allocates are segments, most of it.
inline bool IsSegmentSite(const Site& site) { return site.segments > 0 && 2 * site.segments >= site.allocations; }

// Whether what the site allocates are blocks in segments of CUDA graphs' private pools, most of it.
inline bool IsInGraphPools(const Site& site) {
  return site.in_graph_pools > 0 && 2 * site.in_graph_pools >= site.allocations;
}

// Says in the grade and the explanation of a leak at the framework's level whether the driver's memory grows as well.
// `window_bytes`: what is allocated in a window, where windows stand for steps; otherwise 0.
void AddDriverEvidence(const FrameworkGrowth& growth, uint64_t window_bytes, ReportSite* site);

// Driver memory of the device that is no segment, at its peak, by owner; the most first. Empty without a framework.
std::vector<std::pair<std::string, uint64_t>> OtherOwners(const Ledger& ledger, DeviceIndex device,
                                                          const StackSymbolizer& symbolizer);

// One line for each way in which the framework's level is not what the framework itself says.
void AddFrameworkRemarks(const std::string& path, const Ledger& ledger, const FrameworkCheck& check,
                         std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_FRAMEWORK_FINDINGS_H_
