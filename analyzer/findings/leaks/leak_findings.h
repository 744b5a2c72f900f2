// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/leaks/leak_groups.h"
#include "analyzer/findings/leaks/leak_order.h"
#include "analyzer/findings/leaks/pool_remarks.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// What LeakOrder is to follow: one entry for each of the analysis' groups, without sites where it is no leak.
std::vector<LeakOrder::Watched> LeakingSites(const ProcessAnalysis& analysis);

// Says of the sites of a process which leak each belongs to, and what the leak comes to as a whole.
class LeakFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit LeakFindings(ProcessAnalysis* analysis);

  const char* name() const override { return "leaks"; }
  void Prepare(Replay* detail) override;
  // The peak without leaks that the order of events has made of other parts than their stacks had.
  bool PrepareTrials(Replay* trials) override;
  // With what the steps left behind and with the units of rates, which are per step until here.
  void Describe(const Replays& replays, ProcessFindings* findings) override;

 private:
  ReportLeak Sum(const LeakGroup& leak, const std::vector<ReportSite>& sites) const;
  bool IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const;
  // Of several call stacks, what they leave behind together in one sentence. `members`: of the analysis' groups, the
  // leading one first. `whole`: their rates.
  void DescribeTogether(const std::vector<size_t>& members, const ReportLeak& whole, ReportSite* site) const;
  std::vector<SiteIndex> SitesOf(const std::vector<size_t>& groups) const;
  // Those of them whose bytes are of one total.
  std::vector<SiteIndex> WatchedSitesOf(const std::vector<size_t>& groups) const;
  bool IsGraphPool(size_t group) const;
  // Whether it is of blocks in the segments of one of the others.
  bool IsWithinPools(size_t group, const std::vector<size_t>& others) const;

  ProcessAnalysis& analysis_;
  LeakGrouping grouping_;
  LeakOrder order_;
  PinnedPoolGrowth pool_;
  std::vector<LeakGroup> leaks_;  // after the replay
  // Sets of groups, and where their counterfactual is: in the replay that all follow, or in the trials.
  std::map<std::vector<size_t>, size_t> watched_, tried_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
