// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_HTML_H_
#define ANALYZER_RENDER_HTML_HTML_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"
#include "analyzer/render/html/source_lines.h"

namespace vramtrack {

// The largest page. Of sites it lists as many as fit, some at least, and says how many there are.
constexpr size_t kMaxPageBytes = 20 << 20;
constexpr size_t kMaxPageSites = 20000;

// The report as one file for a browser, which asks for nothing else: docs/html.md. `source`: shown with the frames that
// it is of. The same report and source give the same bytes. Without scripts, or where the build had no bundle of the
// page, it shows the text and plain tables.
std::string RenderHtml(const Report& report, const std::vector<SourceExcerpt>& source = {},
                       size_t max_bytes = kMaxPageBytes);

// The two runs by themselves, for what a comparison does not have: their timelines.
struct DiffRuns {
  Report base, next;
};

// The comparison as one file for a browser: what changed, and the two runs side by side. `runs` may be null: there are
// no timelines, and no scripts. The same reports give the same bytes.
std::string RenderDiffHtml(const DiffReport& report, const DiffRuns* runs);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_HTML_H_
