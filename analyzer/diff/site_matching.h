// SPDX-License-Identifier: Apache-2.0
//
// Matches the sites of two runs. docs/diff.md explains the order of the attempts.
#ifndef ANALYZER_DIFF_SITE_MATCHING_H_
#define ANALYZER_DIFF_SITE_MATCHING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/diff/site_keys.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// A match: the same allocation site in both runs, or in one of them. A side has several sites if code was split or
// merged.
struct SiteMatch {
  std::vector<size_t> base, next;  // indices; one of them may be empty
};

struct SiteMatching {
  std::vector<SiteMatch> matches;  // those in both runs first, by the first index
  RenameMap inferred;              // names that must be renamed for these matches, as in WholeName
};

// ReadFrames() must have been called for both profiles.
SiteMatching MatchSites(const std::vector<ProfileSite>& base, const std::vector<ProfileSite>& next,
                        const RenameMap& renames);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_MATCHING_H_
