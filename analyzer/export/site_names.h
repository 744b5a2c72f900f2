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

// Gives the sites of a process the ids of a report of it alone, and names them so wherever tables refer to them.
void NameSites(ProcessFindings* findings);

// As much of the sites that a report lists as their ids are made of, and these ids; in the order of
// ProcessAnalysis::groups().
std::vector<ReportSite> ReportedSites(const ProcessAnalysis& analysis);

// Ids for all sites of a process, beside those that the report lists: sites that are one to a reader have one id.
// Thread-compatible.
class SiteIds {
 public:
  // Those of the report, which have their ids.
  explicit SiteIds(const std::vector<ReportSite>& reported);

  // `site`: as much of it as an id is made of.
  const std::string& IdOf(const ReportSite& site);

 private:
  absl::flat_hash_map<uint64_t, std::string> known_;  // by hash: the texts of a million sites take much memory
  absl::flat_hash_map<std::string, size_t> numbers_;  // how many sites share it
};

// All sites of a process by the ids that a report of it gives them, also those that the report leaves out.
struct SiteNames {
  struct Named {
    std::string id;
    std::vector<SiteIndex> sites;  // of the ledger
  };

  explicit SiteNames(ProcessAnalysis* analysis);

  std::vector<Named> named;  // those of the report first, in its order: as many as ProcessAnalysis::groups()
  IndexedVector<SiteIndex, size_t> of_site;  // index in `named`

  const std::string& IdOf(SiteIndex site) const { return named[of_site[site]].id; }
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SITE_NAMES_H_
