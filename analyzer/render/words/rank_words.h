// SPDX-License-Identifier: Apache-2.0
//
// How ranks of a job differ from the others, in words.
#ifndef ANALYZER_RENDER_WORDS_RANK_WORDS_H_
#define ANALYZER_RENDER_WORDS_RANK_WORDS_H_

#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"

namespace vramtrack {

// Ranks that differ in the same things.
using DifferingRanks = std::vector<const ReportRank*>;

// Returns the ranks that differ from the others, in groups.
std::vector<DifferingRanks> RankGroups(const Report& report, const SitePlaces& places);

// Returns how a group differs, one reason each: "leaks ..., where most others do not"; with another verb of several.
std::vector<std::string> RankReasons(const Report& report, const SitePlaces& places, const DifferingRanks& group);

// Returns "rank 3 differs: it leaks ...; it peaks at ...".
std::string RankSentence(const Report& report, const SitePlaces& places, const DifferingRanks& group);

// Returns "rank 3", or "process 4711" in a job without ranks.
std::string RankName(const ReportRank& rank);

// Returns "4.00 to 5.00 MiB", or one value if both look alike.
std::string ByteSpan(const std::pair<double, double>& range);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_RANK_WORDS_H_
