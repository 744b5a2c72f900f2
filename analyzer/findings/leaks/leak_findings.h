// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/leaks/leak_groups.h"
#include "analyzer/findings/leaks/leak_order.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// What LeakOrder is to follow: one entry for each of the analysis' groups, without sites where it is no leak.
std::vector<LeakOrder::Watched> LeakingSites(const ProcessAnalysis& analysis);

// Says of the sites of a process which leak each belongs to, and what the leak comes to as a whole.
class LeakFindings {
 public:
  // `analysis` must outlive it.
  explicit LeakFindings(ProcessAnalysis* analysis);

  // What the next replay is to follow. `options` watches the analysis' groups already, and nothing after them.
  void Prepare(LedgerOptions* options);

  // After that replay. `sites`: one for each of the analysis' groups. Replays the trace once more if the order of
  // events made a leak of other parts than the stacks had.
  void Describe(const Ledger& replayed, std::vector<ReportSite>* sites);

 private:
  ReportLeak Sum(const LeakGroup& leak, const std::vector<ReportSite>& sites) const;
  bool IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const;
  // Of several call stacks, what they leave behind together in one sentence. `members`: of the analysis' groups, the
  // leading one first. `whole`: their rates.
  void DescribeTogether(const std::vector<size_t>& members, const ReportLeak& whole, ReportSite* site) const;
  std::vector<uint32_t> SitesOf(const std::vector<size_t>& groups) const;
  // Those of them whose bytes are of one total.
  std::vector<uint32_t> WatchedSitesOf(const std::vector<size_t>& groups) const;
  bool IsGraphPool(size_t group) const;
  // Whether it is of blocks in the segments of one of the others.
  bool IsWithinPools(size_t group, const std::vector<size_t>& others) const;

  ProcessAnalysis& analysis_;
  LeakGrouping grouping_;
  LeakOrder order_;
  std::map<std::vector<size_t>, size_t> watched_;  // sets of groups, and where their counterfactual is
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
