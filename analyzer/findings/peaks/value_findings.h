// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_VALUE_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_VALUE_FINDINGS_H_

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/peaks/step_values.h"

namespace vramtrack {

// Describes how the peak of a step depends on the value that its mark carries.
class ValueFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit ValueFindings(const ProcessAnalysis& analysis) : analysis_(analysis) {}

  const char* name() const override { return "memory by step value"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&values_); }
  // Requires that the devices are in the findings.
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  const ProcessAnalysis& analysis_;
  StepValues values_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_VALUE_FINDINGS_H_
