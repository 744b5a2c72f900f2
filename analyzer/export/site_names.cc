// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/site_names.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/job/site_id.h"

namespace vramtrack {
namespace {

uint64_t HashOf(const ReportSite& site) { return std::hash<std::string>()(SameSiteKey(site)); }

}  // namespace

void NameSites(ProcessFindings* findings) {
  AssignIds(findings->sites.size(), &findings->sites);
  for (ReportSite& site : findings->sites) ShowRawFrames(&site);
}

ReportSite SiteOutline(const Site& site, std::vector<ReportFrame> frames) {
  return SiteOutline(site.key.kind, IsSegmentSite(site), NumberOf(site.key.device), std::move(frames));
}

std::vector<ReportSite> ReportedSites(const ProcessAnalysis& analysis) {
  std::vector<ReportSite> reported;
  for (const SiteGroup& group : analysis.groups()) {
    const Site& first = analysis.ledger().sites()[group.sites[0]];
    reported.push_back(SiteOutline(first, group.frames));
  }
  AssignIds(reported.size(), &reported);
  return reported;
}

SiteIds::SiteIds(const std::vector<ReportSite>& reported) {
  for (const ReportSite& site : reported) {
    known_.emplace(HashOf(site), site.id);
    ++numbers_[SiteId(site)];
  }
}

const std::string& SiteIds::IdOf(const ReportSite& site) {
  const auto [found, is_new] = known_.try_emplace(HashOf(site));
  if (is_new) {
    const std::string id = SiteId(site);
    const size_t others = numbers_[id]++;
    found->second = others == 0 ? id : absl::StrCat(id, "-", others + 1);
  }
  return found->second;
}

SiteNames::SiteNames(ProcessAnalysis* analysis) {
  const Sites& sites = analysis->ledger().sites();
  of_site.resize(sites.size());
  const std::vector<ReportSite> reported = ReportedSites(*analysis);
  for (const SiteGroup& group : analysis->groups()) {
    for (const SiteIndex site : group.sites) of_site[site] = named.size();
    named.push_back({reported[named.size()].id, group.sites});
  }
  SiteIds ids(reported);
  for (const SiteGroup& group : analysis->other_groups()) {
    const Site& first = sites[group.sites[0]];
    for (const SiteIndex site : group.sites) of_site[site] = named.size();
    named.push_back({ids.IdOf(SiteOutline(first, analysis->symbolizer().Frames(first.key.stack))), group.sites});
  }
}

}  // namespace vramtrack
