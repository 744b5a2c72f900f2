// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/sites_in_one.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/framework_findings.h"
#include "analyzer/findings/site_selection.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {
namespace {

// Symbolizing a stack takes a fraction of a millisecond.
constexpr size_t kMostSymbolized = 2000;
// A level that changed so often goes up and down; see JudgeGrowingBuffer.
constexpr size_t kFewestChanges = 3;

bool Matters(const Ledger& ledger, uint32_t site, const LeakVerdict& verdict) {
  if (verdict.evidence.survivors.objects > 0 || verdict.verdict == Verdict::kInsufficientEvidence) return true;
  return IsLeak(verdict.verdict) || ledger.level_changes(site) >= kFewestChanges;
}

// Sites that look the same to a reader have the same one; others may, too.
std::string RoughKey(const Site& site, const Definitions& definitions) {
  std::string key = absl::StrCat(site.key.kind, "|", site.key.device, "|", IsSegmentSite(site));
  const JoinedStackRef stack = definitions.stacks.Get(site.key.stack);
  if (stack.python.count == 0) return absl::StrCat(key, "|", stack.native.count);
  for (size_t i = 0; i < stack.python.count; ++i) {
    absl::StrAppend(&key, "|", stack.python.frames[i].code, ":", stack.python.frames[i].line);
  }
  return key;
}

}  // namespace

std::vector<std::vector<uint32_t>> SitesInOne(const Ledger& ledger, const Definitions& definitions,
                                              const std::vector<LeakVerdict>& verdicts, StackSymbolizer* symbolizer) {
  std::map<std::string, std::vector<uint32_t>> rough;
  for (uint32_t i = 0; i < verdicts.size(); ++i) {
    if (Matters(ledger, i, verdicts[i])) rough[RoughKey(ledger.sites()[i], definitions)].push_back(i);
  }
  std::map<std::string, std::vector<uint32_t>> by_key;
  size_t symbolized = 0;
  for (const auto& [key, sites] : rough) {
    if (sites.size() < 2) continue;
    for (const uint32_t site : sites) {
      if (++symbolized > kMostSymbolized) break;
      const SiteKey& of = ledger.sites()[site].key;
      by_key[absl::StrCat(GroupKey(of, symbolizer->Frames(of.stack)), "|", IsSegmentSite(ledger.sites()[site]))]
          .push_back(site);
    }
  }
  std::vector<std::vector<uint32_t>> together;
  for (auto& [key, sites] : by_key) {
    if (sites.size() > 1) together.push_back(std::move(sites));
  }
  std::sort(together.begin(), together.end());
  return together;
}

void ShareVerdict(const Ledger& ledger, const std::vector<uint32_t>& together, const LeakVerdict& verdict,
                  std::vector<LeakVerdict>* verdicts) {
  std::vector<double> shares;
  double sum = 0;
  const bool buffer = verdict.evidence.buffer.trend != BufferTrend::kNone;
  for (const uint32_t site : together) {
    // Of a buffer that the sites hold in turn, each made as much as the others for all that can be told.
    double share = buffer ? static_cast<double>(ledger.sites()[site].bytes_allocated) : 0;
    if (!buffer) {
      const SurvivorTotal left = TotalOf(SurvivorsIn(ledger.history(site), verdict.evidence.leaking));
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
