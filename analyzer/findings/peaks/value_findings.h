// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_VALUE_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_VALUE_FINDINGS_H_

#include <cstdint>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Describes how the peak of a step depends on the value that its mark carries.
class ValueFindings final : public Collector, public ReplayObserver {
 public:
  // `analysis` must outlive it.
  explicit ValueFindings(const ProcessAnalysis& analysis) : analysis_(analysis) {}

  const char* name() const override { return "memory by step value"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }
  // Requires that the devices are in the findings.
  void Describe(const Replay& replay, ProcessFindings* findings) override;

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnStepEnd(uint32_t step) override;

 private:
  const ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::vector<double> values_;  // by step; 0 for a step without one
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_VALUE_FINDINGS_H_
