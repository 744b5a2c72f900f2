// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

constexpr int kAxisColumns = 9;  // "1023 KiB "
constexpr size_t kWidestBin = 4;

struct Cells {
  std::vector<std::string> heights;
  std::string axis, zero, rule, marker;
};

const Cells& CellsFor(const TextStyle& style) {
  static const auto* const kUnicode = new Cells{{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "│", "┼", "─", "▲"};
  static const auto* const kAscii = new Cells{{" ", "_", ".", ":", "#"}, "|", "+", "-", "^"};
  return style.unicode ? *kUnicode : *kAscii;
}

// The highest value of each column: at most `most`, and as many for one bin as for another where the bins are few.
std::vector<uint64_t> Columns(const std::vector<uint64_t>& values, size_t most) {
  if (values.size() <= most) {
    std::vector<uint64_t> widened;
    for (uint64_t value : values) widened.insert(widened.end(), std::min(most / values.size(), kWidestBin), value);
    return widened;
  }
  const size_t columns = most;
  std::vector<uint64_t> highest(columns);
  for (size_t i = 0; i < columns; ++i) {
    size_t begin = i * values.size() / columns, end = (i + 1) * values.size() / columns;
    highest[i] = *std::max_element(values.begin() + begin, values.begin() + end);
  }
  return highest;
}

std::string Position(const ReportTimeline& timeline, double position) {
  if (timeline.unit == PositionUnit::kSteps && std::isfinite(position)) return absl::StrFormat("step %.0f", position);
  return FormatSeconds(position);
}

// Each bin ends where the next begins; the last is as wide as the narrowest, for steps that were not traced leave gaps.
double EndOf(const ReportRankCurve& curve, size_t bin) {
  const std::vector<double>& position = curve.position;
  if (bin + 1 < position.size()) return position[bin + 1];
  double width = INFINITY;
  for (size_t i = 0; i + 1 < position.size(); ++i) width = std::min(width, position[i + 1] - position[i]);
  return position[bin] + (std::isfinite(width) && width > 0 ? width : 1);
}

}  // namespace

std::vector<std::string> Chart(const TextStyle& style, const ReportTimeline& timeline,
                               const ReportTimeline::Series& series, int rows) {
  if (series.high.empty()) return {};
  const Cells& cells = CellsFor(style);
  std::vector<uint64_t> columns = Columns(series.high, std::max(style.columns - kAxisColumns - 2, 10));
  auto top = std::max_element(columns.begin(), columns.end());
  uint64_t highest = std::max<uint64_t>(*top, 1);
  auto full = static_cast<double>(cells.heights.size() - 1);

  std::vector<std::string> lines;
  for (int row = rows - 1; row >= 0; --row) {
    std::string line = PadLeft(row == rows - 1 ? FormatByteCount(static_cast<double>(*top)) : "", kAxisColumns - 1);
    absl::StrAppend(&line, " ", cells.axis);
    for (uint64_t value : columns) {
      double filled = static_cast<double>(value) / static_cast<double>(highest) * rows - row;
      auto level = static_cast<size_t>(std::clamp(filled, 0.0, 1.0) * full + 0.5);
      // What is there at all is seen.
      if (row == 0 && value > 0) level = std::max<size_t>(level, 1);
      line += cells.heights[level];
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    lines.push_back(std::move(line));
  }
  std::string rule = absl::StrCat(PadLeft("0", kAxisColumns - 1), " ", cells.zero);
  for (size_t i = 0; i < columns.size(); ++i) rule += i == size_t(top - columns.begin()) ? cells.marker : cells.rule;
  lines.push_back(std::move(rule));

  if (!timeline.position.empty()) {
    std::string first = Position(timeline, timeline.position.front());
    std::string last = Position(timeline, timeline.position.back());
    int width = static_cast<int>(columns.size());
    std::string line(kAxisColumns + 1, ' ');
    line += first;
    if (DisplayWidth(first) + DisplayWidth(last) + 1 <= width) line += PadLeft(last, width - DisplayWidth(first));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> RankCurves(const Report& report, const TextStyle& style, size_t columns) {
  uint64_t most = 1;                                          // live bytes of any rank
  std::map<PositionUnit, std::pair<double, double>> span_of;  // of the positions in each unit
  for (const ReportRank& rank : report.ranks) {
    if (!rank.curve || rank.curve->position.empty()) continue;
    const ReportRankCurve& curve = *rank.curve;
    const double begin = curve.position.front(), end = EndOf(curve, curve.position.size() - 1);
    auto& [from, to] = span_of.try_emplace(curve.unit, begin, end).first->second;
    from = std::min(from, begin);
    to = std::max(to, end);
    for (const uint64_t bytes : curve.live.high) most = std::max(most, bytes);
  }
  const std::vector<std::string>& cells = CellsFor(style).heights;
  std::vector<std::string> lines;
  for (const ReportRank& rank : report.ranks) {
    std::string& line = lines.emplace_back();
    if (!rank.curve || rank.curve->position.empty()) continue;
    const ReportRankCurve& curve = *rank.curve;
    const auto [from, to] = span_of.at(curve.unit);
    size_t bin = 0;
    for (size_t column = 0; column < columns; ++column) {
      const double begin = from + (to - from) * static_cast<double>(column) / static_cast<double>(columns);
      const double end = from + (to - from) * static_cast<double>(column + 1) / static_cast<double>(columns);
      uint64_t highest = 0;
      while (bin < curve.position.size() && EndOf(curve, bin) <= begin) ++bin;
      for (size_t i = bin; i < curve.position.size() && curve.position[i] < end; ++i) {
        highest = std::max(highest, curve.live.high[i]);
      }
      const double share = static_cast<double>(highest) / static_cast<double>(most);
      const auto level = static_cast<size_t>(share * static_cast<double>(cells.size() - 1) + 0.5);
      // What is there at all is seen.
      line += cells[highest > 0 ? std::max<size_t>(level, 1) : 0];
    }
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

}  // namespace vramtrack
