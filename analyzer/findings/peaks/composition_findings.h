// SPDX-License-Identifier: Apache-2.0
//
// Describes the composition of live bytes: over the run, within the step of the peak, and at the peak by call stack.
#ifndef ANALYZER_FINDINGS_PEAKS_COMPOSITION_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_COMPOSITION_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/composition_timeline.h"

namespace vramtrack {

// Adds the composition of live bytes over the run, in the steps, and within the step of the peak.
class TimelineFindings final : public Collector {
 public:
  // Both must outlive it. `purposes`: by site.
  TimelineFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);

  const char* name() const override { return "timeline"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&composition_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  // By scope, the groups of the analysis that are shown separately: leaks, and the groups with the most bytes at the
  // peak.
  using Groups = std::map<uint32_t, std::vector<size_t>>;
  static Groups GroupsToFollow(const ProcessAnalysis& analysis);
  std::map<uint32_t, std::vector<std::vector<SiteIndex>>> SitesToFollow() const;
  void AddCategories(uint32_t scope, ReportTimeline* timeline) const;
  void AddComposition(uint32_t scope, ReportTimeline* timeline) const;
  void AddCurve(uint32_t scope, ReportTimeline* timeline) const;

  const ProcessAnalysis& analysis_;
  const Groups followed_;
  CompositionTimeline composition_;
};

// Returns the stacks at the peak of each device and of the host. Nodes with few bytes are only part of their parents.
// `sites`: one for each of analysis.groups().
std::vector<ReportPeakStacks> DescribePeakStacks(const ProcessAnalysis& analysis, const std::vector<ReportSite>& sites);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_COMPOSITION_FINDINGS_H_
