// SPDX-License-Identifier: Apache-2.0
//
// Which site of one run is which of the other. docs/diff.md explains the order of the attempts.
#ifndef ANALYZER_DIFF_SITE_MATCHING_H_
#define ANALYZER_DIFF_SITE_MATCHING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/diff/site_keys.h"
#include "analyzer/profile/diff_site.h"

namespace vramtrack {

// One thing in both runs, or in one of them. Several sites of a run where code was split or merged.
struct SiteMatch {
  std::vector<size_t> base, next;  // indices; one of them may be empty
};

struct SiteMatching {
  std::vector<SiteMatch> matches;  // those in both runs first, by the first index
  RenameMap inferred;              // names that had to be different for this, as WholeName has them
};

SiteMatching MatchSites(const std::vector<DiffSite>& base, const std::vector<DiffSite>& next, const RenameMap& renames);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_MATCHING_H_
