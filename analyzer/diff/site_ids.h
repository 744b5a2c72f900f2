// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_SITE_IDS_H_
#define ANALYZER_DIFF_SITE_IDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// What a site has its id by.
ReportSite NamedSite(uint32_t kind, DeviceIndex device, std::vector<ReportFrame> frames);

// The ids that a report on one of the runs gives to its sites: they depend on the sites of all processes. Until those
// are known a site goes by a key. Thread-compatible.
class DiffSiteIds {
 public:
  // A site that the report lists.
  void AddReported(ReportSite site);
  // One that it may not list. Its key.
  std::string Add(ReportSite site);
  void Join(DiffSiteIds other);

  // By key. Sites that the report leaves out are numbered after those that it lists.
  std::map<std::string, std::string> Assign() const;

 private:
  std::map<std::string, ReportSite> reported_, others_;  // by key
};

// Puts the ids in the place of keys in all findings.
void NameSites(const DiffSiteIds& base, const DiffSiteIds& next, DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_IDS_H_
