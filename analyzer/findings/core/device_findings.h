// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_DEVICE_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_DEVICE_FINDINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/peak_window.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Whether `saved` of `reserved` bytes are worth a line.
bool IsWorthAdvice(uint64_t saved, uint64_t reserved);

// The driver's level of a device, and the level that its figures are about; null if nothing happened on it.
const Scope* ScopeOfDevice(const Ledger& ledger, DeviceIndex device);
const Scope* LeadingScope(const Ledger& ledger, DeviceIndex device);

// The job's own number of a step; the step after the last complete one is called by the next number. None without
// steps.
std::optional<int64_t> ReportedStep(const RunShape& run, uint32_t step);

// Of each device, the change of its leading level that reached the peak.
std::map<DeviceIndex, uint64_t> PeakChanges(const Ledger& ledger);

// The size of the device's memory as far as the trace tells it, 0 where it does not and for the host.
uint64_t DeviceTotalBytes(const Trace& trace, const Ledger& ledger, DeviceIndex device);

std::vector<ReportTimeline> DescribeTimeline(const ProcessAnalysis& analysis);

// As LevelTimeline has them, one after the other.
enum class DeviceFigure { kUsed, kReserved, kLive };

// Of complete steps. Only for a timeline in steps.
LevelSeries LevelsOf(const ProcessAnalysis& analysis, const Scope& scope, DeviceFigure figure);

// What the device had free when it failed, in whole pages, with what a framework's allocator cannot give; none where
// the device's size is not known.
std::optional<uint64_t> DeviceFreeBytes(const Trace& trace, const Ledger& ledger, const OutOfMemory& failed);

// Without its stack and its holders.
ReportOom DescribeOutOfMemory(const Trace& trace, const Ledger& ledger, const RunShape& run, const OutOfMemory& failed);

// The devices, without their growth.
class DeviceFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit DeviceFindings(const ProcessAnalysis& analysis)
      : analysis_(analysis), windows_(PeakChanges(analysis.ledger())) {}

  const char* name() const override { return "devices"; }
  // What led to the peaks.
  void Prepare(Replay* detail) override { detail->observers.push_back(&windows_); }
  void Describe(const Replays& replays, ProcessFindings* findings) override;

 private:
  const ProcessAnalysis& analysis_;
  PeakWindows windows_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_DEVICE_FINDINGS_H_
