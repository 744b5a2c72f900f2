// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_CHART_H_
#define ANALYZER_RENDER_TEXT_CHART_H_

#include <string>
#include <vector>

#include "analyzer/base/text_style.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Characters that are filled from below: not at all, some of it, all.
const std::vector<std::string>& HeightCells(const TextStyle& style);

// A picture of one series of `timeline`, `rows` lines of characters high, with its highest point marked. Bins that fall
// into one column show the highest of them. Empty for an empty series.
std::vector<std::string> Chart(const TextStyle& style, const ReportTimeline& timeline,
                               const ReportTimeline::Series& series, int rows);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_CHART_H_
