// SPDX-License-Identifier: Apache-2.0
//
// Compares the two levels of a device: a framework's blocks and the segments that the driver allocated for them.
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
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/reserve_growth.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/framework_check.h"

namespace vramtrack {

// Growth per step; none if the figure does not grow.
struct FrameworkGrowth {
  std::optional<Growth> live;      // bytes in blocks
  std::optional<Growth> reserved;  // bytes in segments
  // Segments grew far more than live bytes, and not any more in the later half of the steps: not because of a leak.
  bool reserved_stopped = false;

  // Returns whether the growth of live bytes explains the growth of segments.
  bool needs_segments() const { return !IsFlatBeside(live, reserved); }
};

// Returns the growth by device; only devices with a framework's level.
std::map<DeviceIndex, FrameworkGrowth> GrowthOfFrameworks(const Ledger& ledger, const RunShape& run);

constexpr double kRateBytes = 1 << 30;  // bytes of RateUnit::kGiB

// Adds to the grade and the explanation of a leak at the framework's level whether the driver's memory grows as well.
// `window_bytes`: bytes allocated in a window if windows replace steps; otherwise 0.
void AddDriverEvidence(const FrameworkGrowth& growth, uint64_t window_bytes, ReportSite* site);

// Returns the driver memory of the device outside segments at its peak, by owner, largest first. Empty without a
// framework. `allocator`: the first one on the device, may be null. If it is by handle, its blocks are not counted as
// its owner's.
std::vector<std::pair<std::string, uint64_t>> OtherOwners(const Ledger& ledger, DeviceIndex device,
                                                          const TracedAllocator* allocator,
                                                          const StackSymbolizer& symbolizer);

// Adds one warning for each way in which the ledger's framework level differs from what the framework reports.
void AddFrameworkRemarks(const std::string& path, const Definitions& definitions, const Ledger& ledger,
                         const FrameworkCheck& check, std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_FRAMEWORK_FINDINGS_H_
