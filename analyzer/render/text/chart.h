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

// Draws one series of `timeline`, `rows` lines high, with its highest point marked. If several bins share a column, the
// column shows the highest. Returns no lines for an empty series.
std::vector<std::string> Chart(const TextStyle& style, const ReportTimeline& timeline,
                               const ReportTimeline::Series& series, int rows);

// Draws the live bytes of each rank as one line of characters. All ranks have the same scale of bytes and steps.
// Thread-compatible.
class RankCurveText {
 public:
  // `columns` is the number of characters in a line.
  RankCurveText(const Report& report, const TextStyle& style, size_t columns);

  // Returns the line of a rank. Each column shows the maximum of its span; it is blank before the run started and after
  // it ended, without trailing blanks. Empty for a rank without a curve.
  std::string Of(const ReportRank& rank) const;

 private:
  TextStyle style_;
  size_t columns_;
  uint64_t most_ = 1;                                          // the most live bytes of any rank
  std::map<PositionUnit, std::pair<double, double>> span_of_;  // the range of positions for each unit
};

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_CHART_H_
