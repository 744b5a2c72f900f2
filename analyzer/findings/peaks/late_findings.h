// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_LATE_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_LATE_FINDINGS_H_

#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/peaks/late_objects.h"

namespace vramtrack {

// Adds to each device the objects that are freed later than most of their sites, by what they would save at its peak;
// only those that matter. Sites are named by their index.
class LateFindings final : public Collector {
 public:
  // `analysis` must outlive it. `purposes`: by site.
  LateFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);

  const char* name() const override { return "late objects"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&late_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  const ProcessAnalysis& analysis_;
  LateObjects late_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_LATE_FINDINGS_H_
