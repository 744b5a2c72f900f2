// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_DIFF_HTML_H_
#define ANALYZER_RENDER_HTML_DIFF_HTML_H_

#include <string>

#include "analyzer/diff_report.h"

namespace vramtrack {

// The comparison as one file for a browser, without scripts: what changed, and the two runs side by side. The same
// report gives the same bytes.
std::string RenderDiffHtml(const DiffReport& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_DIFF_HTML_H_
