// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_SITE_REFERENCES_H_
#define ANALYZER_JOB_SITE_REFERENCES_H_

#include <cstddef>
#include <functional>
#include <string>

#include "analyzer/model/report.h"
#include "analyzer/model/site_references.h"

namespace vramtrack {

// What findings name sites by is an index until the sites of the whole job have ids: gives the new name of one.
using SiteNamer = std::function<std::string(size_t index)>;

// Renames all sites that a part of the findings refers to. Their texts are indices: see valid_findings.h.
template <class T>
void RenameSites(const SiteNamer& name, T* part) {
  ForEachSiteReference(*part, [&name](std::string* site) {
    if (!site->empty()) *site = name(std::stoul(*site));
  });
}

}  // namespace vramtrack

#endif  // ANALYZER_JOB_SITE_REFERENCES_H_
