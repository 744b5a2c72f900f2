// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_SITE_FINDINGS_H_
#define ANALYZER_FINDINGS_SITE_FINDINGS_H_

#include <cstddef>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Adds the sites of the report, one for each of the analysis' groups, in their order. Each has the frame to blame and
// the peak without the site. This is the first collector: others add to these sites and name them by index.
class SiteFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit SiteFindings(ProcessAnalysis* analysis) : analysis_(*analysis) {}

  const char* name() const override { return "sites"; }
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  ProcessAnalysis& analysis_;
  std::vector<size_t> watched_;  // indexed by group of the analysis
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_SITE_FINDINGS_H_
