// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_RANK_TEXT_H_
#define ANALYZER_RENDER_TEXT_RANK_TEXT_H_

#include <cstddef>
#include <string>

#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// "rank 3", or "process 4711" in a job without ranks.
std::string RankName(const ReportRank& rank);

// How a rank is unlike the others, in words: "leaks ...; peaks at ..."; empty if it is not.
std::string RankDifferences(const Report& report, const SitePlaces& places, const ReportRank& rank);

// The ranks of a job side by side, with a line of characters for how their memory goes where some differ and the page
// is wide enough, and what tells some from the others, in a sentence for those that differ in the same things. Of more
// than `most` ranks only `most` that differ have a row, and a line says what the others do.
void WriteRanks(const Report& report, size_t most, Page* page);

// Only what tells some from the others, in `most` sentences.
void WriteRanksInShort(const Report& report, size_t most, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_RANK_TEXT_H_
