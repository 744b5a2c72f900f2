// SPDX-License-Identifier: Apache-2.0
//
// Encodes sites and their stacks as columns: there are tens of thousands, and most texts and frames occur many times.
#ifndef ANALYZER_RENDER_HTML_COLUMNS_H_
#define ANALYZER_RENDER_HTML_COLUMNS_H_

#include <cstddef>

#include "analyzer/model/report.h"
#include "analyzer/render/json/json_fields.h"

namespace vramtrack {

// The first `most` sites of `report`:
//   count
//   fields   {name: column}: the fields of a site in the report's JSON, but its frames
//   stack    its stack: number of a node of `stacks`, -1 without frames
//   place    the frame that names it in lists: how many calls away from the innermost one, -1 without frames
//   part_place  the same of a site of a leak: the frame that tells it from the leak's other sites, -1 for others
//   stacks   {parent, frame}: a tree, callers before callees; the parent of an outermost frame is -1
//   frames   {name: column}: as in the report's JSON, `location` and `short` (function) as its text has them, and
//            `own`: 1 if it is the job's code
// A column of texts is {values, at}: its different texts, and the number of the one of each row; any other column is an
// array.
Json SiteColumns(const Report& report, size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_COLUMNS_H_
