// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_CHART_H_
#define ANALYZER_RENDER_TEXT_CHART_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Draws one series of `timeline`, `rows` lines high, with its highest point marked. If several bins share a column, the
// column shows the highest. Returns no lines for an empty series.
std::vector<std::string> Chart(const TextStyle& style, const ReportTimeline& timeline,
                               const ReportTimeline::Series& series, int rows);

// Draws the live bytes of each rank of the report as one line of characters, in at most `columns`. All ranks have the
// same scale of bytes and steps. Each column shows the maximum of its span; it is blank before the run started and
// after it ended, without trailing blanks. Empty for a rank without a curve.
std::vector<std::string> RankCurves(const Report& report, const TextStyle& style, size_t columns);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_CHART_H_
