// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_OOM_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_OOM_FINDINGS_H_

#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/peaks/oom_study.h"

namespace vramtrack {

// Describes each failed allocation: the live bytes at that moment by site and by category, and what has changed since
// the last good step.
class OomFindings final : public Collector {
 public:
  // Both must outlive it. `purposes`: by site.
  OomFindings(ProcessAnalysis* analysis, const SitePurposes& purposes);

  const char* name() const override { return "out of memory"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&study_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  void DescribeHolders(const OutOfMemory& failed, const OomStudy::Finding& study, ReportOom* oom) const;

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  OomStudy study_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_OOM_FINDINGS_H_
