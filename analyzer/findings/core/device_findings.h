// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_DEVICE_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_DEVICE_FINDINGS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/device.h"
#include "analyzer/model/oom.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns whether `saved` of `reserved` bytes are enough to be worth a line of advice.
bool IsWorthAdvice(uint64_t saved, uint64_t reserved);

// ScopeOfDevice returns the driver's level of a device, LeadingScope the level that the device's figures are about.
// Both return null if nothing happened on the device.
const Scope* ScopeOfDevice(const Ledger& ledger, DeviceIndex device);
const Scope* LeadingScope(const Ledger& ledger, DeviceIndex device);

// Returns the job's own number of a step. The step after the last complete one has the next number. None without
// steps.
std::optional<int64_t> ReportedStep(const RunShape& run, uint32_t step);

// Returns the change at which the leading level of each device reached its peak.
std::map<DeviceIndex, uint64_t> PeakChanges(const Ledger& ledger);

// The figures of a LevelTimeline row, in its order.
enum class DeviceFigure { kUsed, kReserved, kLive };

// Returns a figure for each complete step. Only for a timeline over steps.
LevelSeries LevelsOf(const ProcessAnalysis& analysis, const Scope& scope, DeviceFigure figure);

// Returns the free bytes of the device at the failure, in whole pages and without what a framework's allocator cannot
// use; none if the size of the device is unknown.
std::optional<uint64_t> DeviceFreeBytes(const Ledger& ledger, const OutOfMemory& failed);

// Describes a failed allocation, without its stack and live sites.
ReportOom DescribeOutOfMemory(const Trace& trace, const Ledger& ledger, const RunShape& run, const OutOfMemory& failed);

// Adds the devices to the findings, without their growth. `analysis` must outlive it.
std::unique_ptr<Collector> MakeDeviceFindings(const ProcessAnalysis& analysis);

// Fills in the suggested limit of `device`, whose other figures must be complete. `oom`: all failed allocations.
void DescribeLimit(const ProcessAnalysis& analysis, const std::vector<ReportOom>& oom, ReportDevice* device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_DEVICE_FINDINGS_H_
