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
  void Prepare(Replay* detail) override { detail->observers.push_back(&blocks_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  // The blocks of some sites that are looked at, at one walk.
  struct Looked {
    std::vector<const HeldBlocks*> blocks;
    uint64_t bytes = 0, seen_bytes = 0;
    uint64_t named_bytes = 0;  // reached from a name of the program
  };

  void DescribeWalks(ProcessFindings* findings) const;
  // Returns the sites of a group and, if it leads a leak, those of its parts, as far as a walk can see their blocks.
  std::vector<SiteIndex> SitesOf(const std::vector<ReportSite>& sites, size_t group) const;
  // Returns the blocks of `sites` at a walk, all of them or those that earlier steps left behind.
  Looked LookAt(size_t walk, const std::vector<SiteIndex>& sites, bool only_earlier) const;
  // Returns that for each walk. Of a leak: what earlier steps left behind, if any walk met it.
  std::vector<Looked> LookAtAll(const std::vector<SiteIndex>& sites, bool leak) const;
  // Returns the walk that tells most about these blocks, given what was found at each; none if nothing was.
  static std::optional<size_t> ChooseWalk(const std::vector<Looked>& looked);
  std::optional<ReportHolder> DescribeSite(const std::vector<SiteIndex>& sites, bool leak) const;
  void DescribeGrowth(size_t walk, const PathStep& step, ReportHolder* holder) const;
  bool HooksGrow(size_t walk, const ChosenHolder& chosen, const ReportHolder& holder) const;
  void DescribeOom(std::vector<ReportOom>* ooms) const;
  // Adds a line for each walk that is not complete.
  void AddWarnings(std::vector<std::string>* warnings) const;

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  HolderWalks walks_;
  WalkedBlocks blocks_;
};

// Adds a line if walks were asked for and there is none, unless there was just no occasion for one.
void AddMissingWalkWarning(const Trace& trace, std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_
