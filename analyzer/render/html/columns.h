// SPDX-License-Identifier: Apache-2.0
//
// Encodes sites and their stacks as columns: there are tens of thousands, and most texts and frames occur many times.
#ifndef ANALYZER_RENDER_HTML_COLUMNS_H_
#define ANALYZER_RENDER_HTML_COLUMNS_H_

#include <cstddef>

#include "analyzer/model/report.h"
#include "analyzer/render/json/json_fields.h"

namespace vramtrack {

// Returns a frame as in the report's JSON, with `location` and `short` (function) as in its text, and `own`: 1 if it is
// the job's code.
Json PageFrame(const ReportFrame& frame, bool own);

// Returns the first `most` sites of `report` as columns:
//   count       the number of sites
//   fields      {name: column}: the fields of a site in the report's JSON, except its frames; `rate` of its own in
//               words, and `words` of the leak that it leads: `rate`, `certainty`, `evidence`, `facts`, `lines`
//   stack       the site's stack: the index of a node in `stacks`, -1 without frames
//   place       the frame that names the site in lists: its distance from the innermost frame, -1 without frames
//   part_place  for a site of a leak, the frame that distinguishes it from the leak's other sites; otherwise -1
//   stacks      {parent, frame}: a tree, callers before callees; the parent of an outermost frame is -1
//   frames      {name: column}: as PageFrame has them
// A column of texts is {values, at}: its distinct texts, and for each row the index of its text. Any other column is an
// array.
Json SiteColumns(const Report& report, size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_COLUMNS_H_
