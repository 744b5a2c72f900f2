// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_SITE_IDS_H_
#define ANALYZER_DIFF_SITE_IDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The ids that a report about one of the runs gives to its sites. They depend on the sites of all processes; until
// those are known, a key identifies a site. Thread-compatible.
class DiffSiteIds {
 public:
  DiffSiteIds() = default;
  // `reported`: the sites that the report lists.
  explicit DiffSiteIds(const std::vector<ReportSite>& reported);

  // Adds a site that the report may not list. Returns its key.
  std::string Add(ReportSite site);
  void Join(DiffSiteIds other);

  // Returns the ids by key. Sites that the report leaves out are numbered after those that it lists.
  std::map<std::string, std::string> Assign() const;

 private:
  std::map<std::string, ReportSite> reported_, others_;  // by key
};

// Replaces the keys by the ids in all findings.
void NameSites(const DiffSiteIds& base, const DiffSiteIds& next, DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_IDS_H_
