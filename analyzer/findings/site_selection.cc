// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/site_selection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/framework_findings.h"

namespace vramtrack {
namespace {

// What is compared with each other: a segment of a framework's allocator holds what its blocks hold.
using Rank = std::pair<Level, bool>;
Rank RankOf(const Site& site) { return {LevelOf(site.key.kind), IsSegmentSite(site)}; }

}  // namespace

std::string GroupKey(const SiteKey& key, const std::vector<ReportFrame>& frames) {
  std::string text = absl::StrCat(key.kind, "|", key.device);
  for (const ReportFrame& frame : frames) {
    absl::StrAppend(&text, "|", frame.function, "|", frame.file, "|", frame.line);
    if (frame.line == 0) absl::StrAppend(&text, "|", frame.module, "|", frame.offset);
  }
  return text;
}

std::vector<SiteGroup> SelectSites(const Ledger& ledger, const std::vector<LeakVerdict>& verdicts, size_t top,
                                   StackSymbolizer* symbolizer) {
  const std::vector<Site>& sites = ledger.sites();
  std::vector<uint32_t> order(sites.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Every tie is broken by the site's number, which is that of its first allocation.
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool leak_a = IsLeak(verdicts[a].verdict), leak_b = IsLeak(verdicts[b].verdict);
    if (leak_a != leak_b) return leak_a;
    if (leak_a && verdicts[a].rate_bytes_per_step != verdicts[b].rate_bytes_per_step) {
      return verdicts[a].rate_bytes_per_step > verdicts[b].rate_bytes_per_step;
    }
    if (sites[a].bytes_at_peak != sites[b].bytes_at_peak) return sites[a].bytes_at_peak > sites[b].bytes_at_peak;
    return a < b;
  });
  std::vector<bool> wanted(sites.size());
  for (const OutOfMemory& failed : ledger.out_of_memory()) {
    for (const auto& [site, bytes] : failed.holders) wanted[site] = true;
  }

  std::vector<SiteGroup> groups;
  std::map<std::string, size_t> by_key;
  std::map<Rank, size_t> others;
  for (const uint32_t site : order) {
    const bool needed = wanted[site] || IsLeak(verdicts[site].verdict);
    // A few more than asked for: some of them turn out to be the same.
    if (!needed && others[RankOf(sites[site])]++ >= 2 * top) continue;
    std::vector<ReportFrame> frames = symbolizer->Frames(sites[site].key.stack);
    const auto [found, is_new] = by_key.try_emplace(GroupKey(sites[site].key, frames), groups.size());
    if (is_new) groups.push_back({{}, std::move(frames)});
    groups[found->second].sites.push_back(site);
  }
  std::map<Rank, size_t> kept_others;
  std::vector<SiteGroup> kept;
  for (SiteGroup& group : groups) {
    const bool needed = std::any_of(group.sites.begin(), group.sites.end(),
                                    [&](uint32_t site) { return wanted[site] || IsLeak(verdicts[site].verdict); });
    if (needed || kept_others[RankOf(sites[group.sites[0]])]++ < top) kept.push_back(std::move(group));
  }
  return kept;
}

}  // namespace vramtrack
