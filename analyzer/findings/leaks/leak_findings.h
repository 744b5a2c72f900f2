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

// Returns the sites that LeakOrder follows: one entry for each of the analysis' groups, without sites if the group is
// not a leak.
std::vector<LeakOrder::Watched> LeakingSites(const ProcessAnalysis& analysis);

// Adds to the sites of a process which leak each belongs to, and the figures of the leak as a whole.
class LeakFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit LeakFindings(ProcessAnalysis* analysis);

  const char* name() const override { return "leaks"; }
  void Prepare(Replay* detail) override;
  // Requests the peak without each leak whose set of sites changed when the order of events became known.
  bool PrepareTrials(Replay* trials) override;
  // Also adds what the steps left live and sets the units of rates, which are per step before this call.
  void Describe(const Replays& replays, ProcessFindings* findings) override;

 private:
  ReportLeak Sum(const LeakGroup& leak, const std::vector<ReportSite>& sites) const;
  bool IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const;
  // Describes in one sentence what several call stacks leave live together. `members`: indices of the analysis'
  // groups, the leading one first. `whole`: their rates.
  void DescribeTogether(const std::vector<size_t>& members, const ReportLeak& whole, ReportSite* site) const;
  std::vector<SiteIndex> SitesOf(const std::vector<size_t>& groups) const;
  // Returns those of their sites whose bytes count to the same total.
  std::vector<SiteIndex> WatchedSitesOf(const std::vector<size_t>& groups) const;
  bool IsGraphPool(size_t group) const;
  // Returns whether the group's blocks are in the segments of one of the other groups.
  bool IsWithinPools(size_t group, const std::vector<size_t>& others) const;

  ProcessAnalysis& analysis_;
  LeakGrouping grouping_;
  LeakOrder order_;
  PinnedPoolGrowth pool_;
  std::vector<LeakGroup> leaks_;  // filled after the replay
  // Sets of groups with the number of their counterfactual: in the replay that all collectors follow, or in the
  // trials.
  std::map<std::vector<size_t>, size_t> watched_, tried_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
