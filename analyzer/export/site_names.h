// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_SITE_NAMES_H_
#define ANALYZER_EXPORT_SITE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/findings/process_analysis.h"

namespace vramtrack {

// All sites of a process by the ids that a report of it gives them, also those that the report leaves out: sites that
// are one to a reader have one id.
struct SiteNames {
  struct Named {
    std::string id;
    std::vector<uint32_t> sites;  // of the ledger
  };

  explicit SiteNames(ProcessAnalysis* analysis);

  std::vector<Named> named;     // those of the report first, in its order: as many as ProcessAnalysis::groups()
  std::vector<size_t> of_site;  // by site of the ledger: index in `named`

  const std::string& IdOf(uint32_t site) const { return named[of_site[site]].id; }
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SITE_NAMES_H_
