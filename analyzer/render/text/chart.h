// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_CHART_H_
#define ANALYZER_RENDER_TEXT_CHART_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Characters that are filled from below: not at all, some of it, all.
const std::vector<std::string>& HeightCells(const TextStyle& style);

// A picture of one series of `timeline`, `rows` lines of characters high, with its highest point marked. Bins that fall
// into one column show the highest of them. Empty for an empty series.
std::vector<std::string> Chart(const TextStyle& style, const ReportTimeline& timeline,
                               const ReportTimeline::Series& series, int rows);

// How live bytes go in the ranks of a job: for each a line of characters, all on one scale of heights and of steps.
// Thread-compatible.
class RankCurveText {
 public:
  // `columns`: characters of a line.
  RankCurveText(const Report& report, const TextStyle& style, size_t columns);

  // The highest of what falls into each column; blank before the run began and after it ended, without blanks at the
  // end. Empty for a rank without a curve.
  std::string Of(const ReportRank& rank) const;

 private:
  TextStyle style_;
  size_t columns_;
  uint64_t most_ = 1;                                         // live bytes
  std::map<std::string, std::pair<double, double>> span_of_;  // of each unit, from where to where
};

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_CHART_H_
