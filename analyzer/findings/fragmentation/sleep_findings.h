// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_SLEEP_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_SLEEP_FINDINGS_H_

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/releases.h"
#include "analyzer/fragmentation/sleep_log.h"

namespace vramtrack {

// Describes what a device holds while memory sleeps, and what was released twice.
class SleepFindings final : public Collector {
 public:
  // Returns whether the trace can have either: it maps memory at addresses, or released something unknown.
  static bool AreDue(const Ledger& ledger);

  // `analysis` must outlive it.
  explicit SleepFindings(ProcessAnalysis* analysis) : analysis_(*analysis), repeated_(analysis->trace()) {}

  const char* name() const override { return "sleep and wake"; }
  void Prepare(Replay* detail) override {
    detail->observers.push_back(&sleeps_);
    detail->observers.push_back(&repeated_);
  }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  ReportSleep DescribeSleeps(const Replay& replay, DeviceIndex device, const DeviceSleeps& sleeps);

  ProcessAnalysis& analysis_;
  SleepLog sleeps_;
  RepeatedFrees repeated_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_SLEEP_FINDINGS_H_
