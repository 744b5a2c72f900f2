// SPDX-License-Identifier: Apache-2.0
//
// The sentences that the page shows: the same as those of the text report, so that its scripts make none.
#ifndef ANALYZER_RENDER_HTML_PAGE_WORDS_H_
#define ANALYZER_RENDER_HTML_PAGE_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/json/json_fields.h"

namespace vramtrack {

// What a part of the memory at a device's peak is for: a leak, or what is left of a category without the leaks.
struct PeakUse {
  std::string label;     // "leak train.py:43", "optimizer state"
  std::string category;  // empty for a leak
  uint64_t bytes = 0;
};

// Returns the uses at the peak of `device`: leaks first, then categories. The same report gives the same uses, whatever
// it is compared with. `places` are those of `report`.
std::vector<PeakUse> PeakUses(const Report& report, const SitePlaces& places, const ReportDevice& device);

// Returns {name of a verdict: "bad", "good" or "unsure"}.
Json VerdictTones();

// Returns the words of a report. Lists are as long as those of the report and in their order; rows are pairs of a label
// and words:
//   tones     VerdictTones
//   steps     how many there are, and where they come from
//   further   [{site, what}]: what is worth a look besides leaks; `more`: how many are not listed
//   devices   [{title, uses: PeakUses, memory: rows, fragmentation: rows, growth, grew, full}]
//   pinned_grew, handles_grew   as `grew` of a device: how its ledger grew; empty without one
//   peak      for each device of peak_lines the lines, as {location, function}
//   oom       [{request, answer, notes, stack, holders, grown, held, setting, advice}]; `held` in bytes, of lines
//   {site,
//             place, leak, sites, then, now}
//   ranks     [{name, differs: [reason]}]
//   cards     [{title, rows}], and of CUDA contexts where no work is; host: the same, or null
Json PageWords(const Report& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PAGE_WORDS_H_
