// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/rank_curve_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/render/text/chart.h"

namespace vramtrack {
namespace {

// Each bin ends where the next begins; the last is as wide as the narrowest, for steps that were not traced leave gaps.
double EndOf(const ReportRankCurve& curve, size_t bin) {
  const std::vector<double>& position = curve.position;
  if (bin + 1 < position.size()) return position[bin + 1];
  double width = INFINITY;
  for (size_t i = 0; i + 1 < position.size(); ++i) width = std::min(width, position[i + 1] - position[i]);
  return position[bin] + (std::isfinite(width) && width > 0 ? width : 1);
}

}  // namespace

RankCurveText::RankCurveText(const Report& report, const TextStyle& style, size_t columns)
    : style_(style), columns_(columns) {
  for (const ReportRank& rank : report.ranks) {
    if (!rank.curve || rank.curve->position.empty()) continue;
    const ReportRankCurve& curve = *rank.curve;
    const double begin = curve.position.front(), end = EndOf(curve, curve.position.size() - 1);
    auto& [from, to] = span_of_.try_emplace(curve.unit, begin, end).first->second;
    from = std::min(from, begin);
    to = std::max(to, end);
    for (const uint64_t bytes : curve.live.high) most_ = std::max(most_, bytes);
  }
}

std::string RankCurveText::Of(const ReportRank& rank) const {
  if (!rank.curve || rank.curve->position.empty()) return "";
  const ReportRankCurve& curve = *rank.curve;
  const auto [from, to] = span_of_.at(curve.unit);
  const std::vector<std::string>& cells = HeightCells(style_);
  std::string line;
  size_t bin = 0;
  for (size_t column = 0; column < columns_; ++column) {
    const double begin = from + (to - from) * static_cast<double>(column) / static_cast<double>(columns_);
    const double end = from + (to - from) * static_cast<double>(column + 1) / static_cast<double>(columns_);
    uint64_t highest = 0;
    while (bin < curve.position.size() && EndOf(curve, bin) <= begin) ++bin;
    for (size_t i = bin; i < curve.position.size() && curve.position[i] < end; ++i) {
      highest = std::max(highest, curve.live.high[i]);
    }
    const double share = static_cast<double>(highest) / static_cast<double>(most_);
    const auto level = static_cast<size_t>(share * static_cast<double>(cells.size() - 1) + 0.5);
    // What is there at all is seen.
    line += cells[highest > 0 ? std::max<size_t>(level, 1) : 0];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace vramtrack
