// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_PATTERN_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_PATTERN_FINDINGS_H_

#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/peaks/object_patterns.h"

namespace vramtrack {

// Adds the avoidable allocations of each device, by what they would save at its peak; only those that matter. Sites
// are named by their index.
class PatternFindings final : public Collector {
 public:
  // Both must outlive it. `purposes`: by site.
  PatternFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);

  const char* name() const override { return "patterns"; }
  void Prepare(Replay* detail) override { detail->observers.insert(detail->observers.end(), {&late_, &reusable_}); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  const ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  LateObjects late_;
  ReusableMemory reusable_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_PATTERN_FINDINGS_H_
