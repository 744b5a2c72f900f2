// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/site_names.h"

#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "analyzer/findings/site_id.h"

namespace vramtrack {
namespace {

// As much of a site as its id is made of.
ReportSite Outline(const Site& site, std::vector<ReportFrame> frames) {
  ReportSite outline;
  outline.level = LevelName(LevelOf(site.key.kind));
  outline.kind = KindName(site.key.kind);
  if (site.key.device != SiteKey::kHost) outline.device = site.key.device;
  outline.frames = std::move(frames);
  return outline;
}

}  // namespace

SiteNames::SiteNames(ProcessAnalysis* analysis) {
  const std::vector<Site>& sites = analysis->ledger().sites();
  constexpr size_t kNone = SIZE_MAX;
  of_site.assign(sites.size(), kNone);
  std::vector<ReportSite> reported;
  absl::flat_hash_map<uint64_t, size_t> same;  // by hash: the texts of a million sites take much memory
  const auto hash_of = [](const ReportSite& site) { return std::hash<std::string>()(SameSiteKey(site)); };
  for (const SiteGroup& group : analysis->groups()) {
    reported.push_back(Outline(sites[group.sites[0]], group.frames));
    same.emplace(hash_of(reported.back()), named.size());
    for (const uint32_t site : group.sites) of_site[site] = named.size();
    named.push_back({"", group.sites});
  }
  AssignIds(reported.size(), &reported);
  absl::flat_hash_map<std::string, size_t> taken;  // how many sites share it
  for (size_t i = 0; i < reported.size(); ++i) {
    named[i].id = reported[i].id;
    ++taken[SiteId(reported[i])];
  }
  for (uint32_t i = 0; i < sites.size(); ++i) {
    if (of_site[i] != kNone) continue;
    const ReportSite outline = Outline(sites[i], analysis->symbolizer().Frames(sites[i].key.stack));
    const auto [found, is_new] = same.emplace(hash_of(outline), named.size());
    // A site that looks like one of the report, which has left it out, is none of its figures.
    const bool left_out = !is_new && found->second < reported.size();
    if (left_out) found->second = named.size();
    if (is_new || left_out) {
      const std::string id = SiteId(outline);
      const size_t others = taken[id]++;
      named.push_back({others == 0 ? id : absl::StrCat(id, "-", others + 1), {}});
    }
    of_site[i] = found->second;
    named[found->second].sites.push_back(i);
  }
}

}  // namespace vramtrack
