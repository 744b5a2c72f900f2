// SPDX-License-Identifier: Apache-2.0
//
// The screen of `vramtrack top`: a report as a table of lines that fits on a terminal.
#ifndef ANALYZER_RENDER_TEXT_TOP_TEXT_H_
#define ANALYZER_RENDER_TEXT_TOP_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

enum class TopOrder : uint8_t { kRate, kLive, kPeak };
constexpr TopOrder kLastTopOrder = TopOrder::kPeak;
const char* TopOrderName(TopOrder order);

// The live bytes of sites at a moment that the user chose, by id.
using TopBaseline = std::map<std::string, uint64_t>;
TopBaseline BaselineOf(const Report& report);

// What the user has chosen to see.
struct TopView {
  TopOrder order = TopOrder::kRate;
  std::string search;              // show only lines that contain this, in either case; empty: all
  std::optional<uint32_t> device;  // show only this one; nullopt: all
  std::optional<TopBaseline> baseline;
  std::string selected;      // place of a row; empty: the first row
  bool shows_stack = false;  // of the selected site, instead of the table
};

// A line of the program. Sites of one line that are in the same state are one row, unless they leak; a leak and its
// parts are one row.
struct TopRow {
  const ReportSite* site = nullptr;  // the one that holds most
  std::string place, state;
  uint64_t live_bytes = 0, bytes_at_peak = 0, bytes_at_mark = 0;
  double rate_bytes = 0, rate_objects = 0;  // per step
  uint64_t kept_objects = 0;                // that the judged steps left behind
  size_t sites = 0;
};

// Returns the rows of the table, in its order. The report must outlive them. With kRate, the leaks come first, the
// fastest first; then what cannot be judged yet; then the others by live bytes. The parts of a leak are in the row of
// the site that leads it.
std::vector<TopRow> TopRows(const Report& report, const TopView& view);

// Returns the index of the selected row: the first one if what was selected is not there.
size_t SelectedIn(const std::vector<TopRow>& rows, const TopView& view);

// Returns the screen: at most `rows` lines of at most style.columns columns. `title` and `footer` are its first and
// last line.
std::vector<std::string> TopScreen(const Report& report, const TopView& view, const std::string& title,
                                   const std::string& footer, const TextStyle& style, size_t rows);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_TOP_TEXT_H_
