// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/site_ids.h"

#include <optional>
#include <utility>
#include <vector>

#include "analyzer/job/site_id.h"

namespace vramtrack {
namespace {

using IdByKey = std::map<std::string, std::string>;

void Name(const IdByKey& ids, std::optional<std::string>* site) {
  if (!*site) return;
  if (const auto found = ids.find(**site); found != ids.end()) *site = found->second;
}

void Name(const IdByKey& base, const IdByKey& next, std::vector<DiffFinding>* findings) {
  for (DiffFinding& finding : *findings) {
    Name(base, &finding.base_site);
    Name(next, &finding.new_site);
    Name(base, next, &finding.parts);
  }
}

}  // namespace

DiffSiteIds::DiffSiteIds(const std::vector<ReportSite>& reported) {
  for (const ReportSite& site : reported) reported_.try_emplace(SameSiteKey(site), site);
}

std::string DiffSiteIds::Add(ReportSite site) {
  std::string key = SameSiteKey(site);
  others_.try_emplace(key, std::move(site));
  return key;
}

void DiffSiteIds::Join(DiffSiteIds other) {
  reported_.merge(other.reported_);
  others_.merge(other.others_);
}

IdByKey DiffSiteIds::Assign() const {
  std::vector<ReportSite> sites;
  std::vector<const std::string*> keys;
  for (const auto& [key, site] : reported_) {
    keys.push_back(&key);
    sites.push_back(site);
  }
  for (const auto& [key, site] : others_) {
    if (reported_.count(key) != 0) continue;
    keys.push_back(&key);
    sites.push_back(site);
  }
  AssignIds(reported_.size(), &sites);
  IdByKey ids;
  for (size_t i = 0; i < sites.size(); ++i) ids[*keys[i]] = sites[i].id;
  return ids;
}

void NameSites(const DiffSiteIds& base, const DiffSiteIds& next, DiffReport* report) {
  const IdByKey base_ids = base.Assign(), next_ids = next.Assign();
  for (auto* list : {&report->added, &report->gone, &report->grown, &report->shrunk, &report->moved}) {
    Name(base_ids, next_ids, list);
  }
}

}  // namespace vramtrack
