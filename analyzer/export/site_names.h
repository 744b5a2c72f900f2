// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_SITE_NAMES_H_
#define ANALYZER_EXPORT_SITE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {

// Gives the sites of a process the ids that a report of it alone gives them.
void NameSites(ProcessFindings* findings);

// Returns only those fields of a site from which its id is made.
ReportSite SiteOutline(const Site& site, std::vector<ReportFrame> frames);

// Returns the sites that a report lists, with only the fields from which ids are made, and their ids, in the order of
// ProcessAnalysis::groups().
std::vector<ReportSite> ReportedSites(const ProcessAnalysis& analysis);

// Ids for all sites of a process, in addition to those that the report lists. Sites that look the same to a reader have
// one id. Thread-compatible.
class SiteIds {
 public:
  // `reported` are the sites of the report, which have their ids.
  explicit SiteIds(const std::vector<ReportSite>& reported);

  // `site` needs only the fields from which an id is made.
  const std::string& IdOf(const ReportSite& site);

 private:
  absl::flat_hash_map<uint64_t, std::string> known_;  // by hash, because the texts of a million sites take much memory
  absl::flat_hash_map<std::string, size_t> numbers_;  // number of sites with this id, before a suffix makes it unique
};

// All sites of a process with the ids that a report gives them, including sites that the report leaves out.
struct SiteNames {
  struct Named {
    std::string id;
    std::vector<SiteIndex> sites;  // indices in the ledger
  };

  explicit SiteNames(ProcessAnalysis* analysis);

  // The sites of the report come first, in its order: as many as ProcessAnalysis::groups().
  std::vector<Named> named;
  IndexedVector<SiteIndex, size_t> of_site;  // index in `named`

  const std::string& IdOf(SiteIndex site) const { return named[of_site[site]].id; }
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SITE_NAMES_H_
