// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_
#define ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/holders/holder_choice.h"
#include "analyzer/holders/walked_blocks.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Adds what walks through the objects of the process found: which Python names hold the blocks of each site, of each
// device, and of each failed allocation. Only for a trace with walks.
class HolderFindings final : public Collector {
 public:
  // Both must outlive it. `purposes`: by site.
  HolderFindings(ProcessAnalysis* analysis, const SitePurposes& purposes);

  const char* name() const override { return "holders"; }
  void Prepare(Replay* /*detail*/) override {}
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  void DescribeWalks(ProcessFindings* findings) const;
  // Returns the sites of a group and, if it leads a leak, those of its parts, as far as a walk can see their blocks.
  std::vector<SiteIndex> SitesOf(const std::vector<ReportSite>& sites, size_t group) const;
  std::optional<ReportHolder> DescribeSite(const std::vector<SiteIndex>& sites, bool leak) const;
  void DescribeGrowth(size_t walk, const PathStep& step, ReportHolder* holder) const;
  bool HooksGrow(size_t walk, const ChosenHolder& chosen, const ReportHolder& holder) const;
  void DescribeOom(std::vector<ReportOom>* ooms) const;
  // Adds a line for each walk that is not complete.
  void AddWarnings(std::vector<std::string>* warnings) const;

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  const HolderWalks& walks_;
  const WalkedBlocks& blocks_;
};

// Adds a line if walks were asked for and there is none, unless there was just no occasion for one.
void AddMissingWalkWarning(const Trace& trace, std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_
