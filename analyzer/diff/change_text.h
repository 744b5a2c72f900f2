// SPDX-License-Identifier: Apache-2.0
//
// What changed at a site, in words.
#ifndef ANALYZER_DIFF_CHANGE_TEXT_H_
#define ANALYZER_DIFF_CHANGE_TEXT_H_

#include <string>
#include <vector>

#include "analyzer/diff/site_comparison.h"
#include "analyzer/model/report.h"
#include "analyzer/profile/diff_site.h"

namespace vramtrack {

// `rate_unit`: as DiffFinding has it.
std::string ExplainChange(const SitePair& pair, const SiteChange& change, const std::string& rate_unit);

// Whether a reader sees two stacks as different.
bool LooksMoved(const std::vector<ReportFrame>& old, const std::vector<ReportFrame>& now);

// The innermost frame in which they differ; 0 if in none.
size_t FirstDifference(const std::vector<ReportFrame>& old, const std::vector<ReportFrame>& now);

// The file and line of the frame that names the site, looked for from the frame `from` on.
std::string PlaceFrom(const DiffSite& site, size_t from);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_CHANGE_TEXT_H_
