// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_SITE_ID_H_
#define ANALYZER_JOB_SITE_ID_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/model/site_references.h"

namespace vramtrack {

// What a site's id is made of: nothing that moving lines or another run would change.
std::string SiteIdentity(const ReportSite& site);

// Eight hexadecimal digits. Sites whose functions are the same share them.
std::string SiteId(const ReportSite& site);

// The same for sites that are one to a reader: the same frames at the same lines; addresses may differ where there are
// lines.
std::string SameSiteKey(const ReportSite& site);

// The same frames at the same lines, as in SameSiteKey, without a text: a job has millions of stacks.
size_t FramesHash(const std::vector<ReportFrame>& frames);
bool IsSameStack(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b);

// The same code, on whichever device: sites of one place and one device are one.
size_t PlaceHash(const ReportSite& site);
bool IsSamePlace(const ReportSite& a, const ReportSite& b);

// Gives each site its id. Sites whose functions are the same but whose lines differ share a hash: they are told apart
// by their order. Those from index `reported` on come after the others, whose ids they do not change.
void AssignIds(size_t reported, std::vector<ReportSite>* sites);

// What findings name sites by is an index until the sites of the whole job have ids: gives the new name of one.
using SiteNamer = std::function<std::string(size_t index)>;

// Renames all sites that a part of the findings refers to. The texts are indices; CheckFindings in summary.cc makes
// sure of that for findings that were read.
template <class T>
void RenameSites(const SiteNamer& name, T* part) {
  ForEachSiteReference(*part, [&name](std::string* site) {
    if (!site->empty()) *site = name(std::stoul(*site));
  });
}

}  // namespace vramtrack

#endif  // ANALYZER_JOB_SITE_ID_H_
