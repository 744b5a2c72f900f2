// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/sites_in_one.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {
namespace {

// A level that changed so often goes up and down; see JudgeGrowingBuffer.
constexpr size_t kFewestChanges = 3;

bool Matters(const SiteHistories& histories, SiteIndex site, const LeakVerdict& verdict) {
  if (verdict.evidence.survivors.objects > 0 || verdict.verdict == Verdict::kInsufficientEvidence) return true;
  return IsLeak(verdict.verdict) || histories.level_changes(site) >= kFewestChanges;
}

}  // namespace

std::vector<std::vector<SiteIndex>> SitesInOne(const SiteHistories& histories, const Ledger& ledger,
                                               const SameSites& same, const SiteVerdicts& verdicts) {
  std::map<std::pair<SiteIndex, bool>, std::vector<SiteIndex>> by_group;
  for (const SiteIndex i : verdicts.indices()) {
    if (Matters(histories, i, verdicts[i])) by_group[{same[i], IsSegmentSite(ledger.sites()[i])}].push_back(i);
  }
  std::vector<std::vector<SiteIndex>> together;
  for (auto& [group, sites] : by_group) {
    if (sites.size() > 1) together.push_back(std::move(sites));
  }
  std::sort(together.begin(), together.end());
  return together;
}

void ShareVerdict(const SiteHistories& histories, const Ledger& ledger, const std::vector<SiteIndex>& together,
                  const LeakVerdict& verdict, SiteVerdicts* verdicts) {
  std::vector<double> shares;
  double sum = 0;
  const bool buffer = verdict.evidence.buffer.trend != BufferTrend::kNone;
  for (const SiteIndex site : together) {
    // Of a buffer that the sites hold in turn, each made as much as the others for all that can be told.
    double share = buffer ? static_cast<double>(ledger.sites()[site].bytes_allocated) : 0;
    if (!buffer) {
      const SurvivorTotal left = TotalOf(SurvivorsIn(histories.history(site), verdict.evidence.leaking));
      share = verdict.rate_bytes_per_step > 0 ? static_cast<double>(left.bytes) : static_cast<double>(left.objects);
    }
    shares.push_back(share);
    sum += share;
  }
  for (size_t i = 0; i < together.size(); ++i) {
    LeakVerdict& own = (*verdicts)[together[i]];
    const double share = sum > 0 ? shares[i] / sum : 1.0 / static_cast<double>(together.size());
    own = verdict;
    own.rate_bytes_per_step *= share;
    own.rate_objects_per_step *= share;
    own.rate_ci_low *= share;
    own.rate_ci_high *= share;
  }
}

}  // namespace vramtrack
