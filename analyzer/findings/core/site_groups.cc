// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/site_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace vramtrack {
namespace {

// What is compared with each other: a segment of a framework's allocator holds what its blocks hold.
using Rank = std::pair<Level, bool>;
Rank RankOf(const Site& site) { return {LevelOf(site), IsSegmentSite(site)}; }

// So many of the sites that cannot be judged are reported however little they hold, to show why.
constexpr size_t kMostUnjudged = 5;

}  // namespace

SameSites SitesThatLookTheSame(const Ledger& ledger, StackSymbolizer* symbolizer) {
  const Sites& sites = ledger.sites();
  SameSites same(sites.size());
  absl::flat_hash_map<StackIndex, uint64_t> places;
  absl::flat_hash_map<std::tuple<uint32_t, DeviceIndex, uint64_t>, SiteIndex> first;
  for (const SiteIndex i : sites.indices()) {
    const SiteKey& key = sites[i].key;
    const auto [of_stack, unknown] = places.try_emplace(key.stack);
    if (unknown) of_stack->second = symbolizer->PlacesHash(key.stack);
    same[i] = first.try_emplace({key.kind, key.device, of_stack->second}, i).first->second;
  }
  return same;
}

SiteGroups SelectSites(const Ledger& ledger, const std::vector<OutOfMemory>& failures, const SiteVerdicts& verdicts,
                       const SameSites& same, size_t top, StackSymbolizer* symbolizer) {
  const Sites& sites = ledger.sites();
  struct Candidate {
    SiteGroup group;
    bool leaks = false, unjudged = false, wanted = false;
    double rate = 0;
    uint64_t bytes_at_peak = 0;
  };
  std::vector<Candidate> candidates;
  IndexedVector<SiteIndex, uint32_t> candidate_of(sites.size());
  for (const SiteIndex i : sites.indices()) {
    if (same[i] == i) {
      candidate_of[i] = static_cast<uint32_t>(candidates.size());
      candidates.emplace_back();
    }
    Candidate& candidate = candidates[candidate_of[i] = candidate_of[same[i]]];
    candidate.group.sites.push_back(i);
    candidate.bytes_at_peak += sites[i].bytes_at_peak;
    candidate.unjudged |= verdicts[i].verdict == Verdict::kInsufficientEvidence;
    if (!IsLeak(verdicts[i].verdict)) continue;
    candidate.leaks = true;
    candidate.rate += verdicts[i].rate_bytes_per_step;
  }
  for (const OutOfMemory& failed : failures) {
    for (const auto& [site, bytes] : failed.holders) candidates[candidate_of[site]].wanted = true;
  }
  // Every tie is broken by the site's number, which is that of its first allocation.
  for (Candidate& candidate : candidates) {
    std::stable_sort(candidate.group.sites.begin(), candidate.group.sites.end(), [&](SiteIndex a, SiteIndex b) {
      const bool leak_a = IsLeak(verdicts[a].verdict), leak_b = IsLeak(verdicts[b].verdict);
      if (leak_a != leak_b) return leak_a;
      // The first one's verdict is that of all: what cannot be judged must not hide behind what can.
      const bool open_a = verdicts[a].verdict == Verdict::kInsufficientEvidence,
                 open_b = verdicts[b].verdict == Verdict::kInsufficientEvidence;
      if (open_a != open_b) return open_a;
      if (leak_a && verdicts[a].rate_bytes_per_step != verdicts[b].rate_bytes_per_step) {
        return verdicts[a].rate_bytes_per_step > verdicts[b].rate_bytes_per_step;
      }
      return sites[a].bytes_at_peak > sites[b].bytes_at_peak;
    });
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.leaks != b.leaks) return a.leaks;
    if (a.leaks && a.rate != b.rate) return a.rate > b.rate;
    return a.bytes_at_peak > b.bytes_at_peak;
  });
  SiteGroups groups;
  std::map<Rank, size_t> kept;
  size_t unjudged = 0;
  for (Candidate& candidate : candidates) {
    const Site& first = sites[candidate.group.sites[0]];
    const bool largest = candidate.leaks || candidate.wanted || kept[RankOf(first)]++ < top;
    if (largest || (candidate.unjudged && unjudged++ < kMostUnjudged)) {
      candidate.group.frames = symbolizer->Frames(first.key.stack);
      groups.reported.push_back(std::move(candidate.group));
    } else {
      groups.others.push_back(std::move(candidate.group));
    }
  }
  return groups;
}

}  // namespace vramtrack
