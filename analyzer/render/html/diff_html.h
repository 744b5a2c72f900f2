// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_DIFF_HTML_H_
#define ANALYZER_RENDER_HTML_DIFF_HTML_H_

#include <string>

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The two runs by themselves, for what a comparison does not have: their timelines.
struct DiffRuns {
  Report base, next;
};

// The comparison as one file for a browser: what changed, and the two runs side by side. `runs` may be null: there are
// no timelines, and no scripts. The same reports give the same bytes.
std::string RenderDiffHtml(const DiffReport& report, const DiffRuns* runs);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_DIFF_HTML_H_
