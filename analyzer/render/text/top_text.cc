// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/top_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/device_parts.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

constexpr int kNarrowestBar = 10, kWidestBar = 40;
constexpr size_t kMostDevices = 8, kFewestRows = 3;

std::string Bar(const std::vector<DevicePart>& parts, const TextStyle& style, int columns) {
  constexpr std::pair<const char*, const char*> kCells[] = {{"#", "█"}, {"=", "▓"}, {"+", "▒"},
                                                            {"=", "▓"}, {"-", "░"}, {" ", " "}};  // one for each kind
  uint64_t total = 0;
  for (const DevicePart& part : parts) total += part.bytes;
  std::string bar = "[";
  uint64_t before = 0;
  int drawn = 0;
  for (const DevicePart& part : parts) {
    before += part.bytes;
    const auto& [ascii, unicode] = kCells[static_cast<size_t>(part.kind)];
    const int until =
        total == 0 ? 0
                   : static_cast<int>(std::lround(static_cast<double>(before) / static_cast<double>(total) * columns));
    for (; drawn < until; ++drawn) bar += style.unicode ? unicode : ascii;
  }
  return absl::StrCat(bar, std::string(static_cast<size_t>(columns - drawn), ' '), "]");
}

std::string WhenFull(const Report& report, const ReportDevice& device) {
  if (HasRunOut(report, device.index)) return "has run out of memory";
  if (!device.growth) return "";
  const std::string full = FullInSteps(*device.growth);
  if (full.empty() || !device.growth->seconds_to_oom) return full;
  return absl::StrCat(full, ", about ", FormatSeconds(*device.growth->seconds_to_oom));
}

void AddDevice(const Report& report, const ReportDevice& device, const TextStyle& style,
               std::vector<std::string>* lines) {
  const std::vector<DevicePart> parts = DeviceParts(device);
  std::string head = absl::StrCat("GPU ", device.index);
  if (device.processes > 1) {
    absl::StrAppend(&head, " ", ProcessName(device.rank, device.pid));
  }
  std::string figures;
  for (const DevicePart& part : parts) {
    if (part.bytes == 0) continue;
    absl::StrAppend(&figures, figures.empty() ? "" : ", ", BytesText(part.bytes), " ", NameOf(part.kind));
  }
  if (device.total_bytes > 0) absl::StrAppend(&figures, " of ", BytesText(device.total_bytes));
  const int left = style.columns - DisplayWidth(head) - DisplayWidth(figures) - 4;
  std::string line = absl::StrCat(head, " ");
  if (left >= kNarrowestBar && device.total_bytes > 0)
    absl::StrAppend(&line, Bar(parts, style, std::min(left, kWidestBar)), " ");
  lines->push_back(CutEnd(absl::StrCat(line, figures), style.columns));
  if (const std::string full = WhenFull(report, device); !full.empty()) {
    lines->push_back(Painted(style, Paint::kAlarm, CutEnd("      " + full, style.columns)));
  }
}

// One mark a rank: those that are unlike the others stand out, and the first of them is named.
void AddRanks(const Report& report, const TextStyle& style, std::vector<std::string>* lines) {
  if (report.ranks.size() < 2) return;
  std::string strip;
  const ReportRank* odd = nullptr;
  for (const ReportRank& rank : report.ranks) {
    strip += rank.differs.empty() ? '.' : '!';
    if (!rank.differs.empty() && odd == nullptr) odd = &rank;
  }
  std::string line = absl::StrCat("ranks ", CutEnd(strip, style.columns / 2));
  if (odd != nullptr) {
    const ReportRank::Difference& difference = odd->differs[0];
    absl::StrAppend(&line, "  ", ProcessName(odd->rank, odd->pid), ": ", NameOf(difference.what), " ",
                    FormatByteCount(difference.value), ", usually ", FormatByteCount(difference.usual));
  }
  lines->push_back(CutEnd(line, style.columns));
}

std::string RateText(double bytes, double objects) {
  if (bytes != 0) return FormatByteCount(bytes);
  return objects == 0 ? "" : FormatAbout(objects) + " obj";
}

std::string IntervalText(const ReportSite& site) {
  const LeakFigures figures = FiguresOf(site);
  if (figures.bytes == 0 || figures.ci_low == figures.ci_high) return "";
  return FormatByteRange(figures.ci_low, figures.ci_high);
}

// The function never follows "in": rows are read as columns.
std::string PlaceText(const ReportFrame* frame) {
  if (frame == nullptr) return FramePlace(frame);
  const std::string function = FrameFunction(*frame);
  return absl::StrCat(FrameLocation(*frame), function.empty() ? "" : "  ", function);
}

uint64_t PeakOf(const Report& report, const ReportSite& site) {
  const ReportDevice* const device = FindDevice(report, site.device);
  // Of several processes the peak is that of one, but a site is that of all.
  return device == nullptr || device->processes > 1 ? 0 : device->peak.live;
}

std::string ShareOfPeak(const Report& report, const TopRow& row) {
  const uint64_t peak = PeakOf(report, *row.site);
  const double share = peak == 0 ? 0 : static_cast<double>(row.bytes_at_peak) / static_cast<double>(peak);
  return share < 0.0005 ? "" : absl::StrFormat("%.1f %%", 100 * share);
}

std::string LiveText(const TopRow& row, const TopView& view) {
  if (!view.baseline) return BytesText(row.live_bytes);
  const double change = static_cast<double>(row.live_bytes) - static_cast<double>(row.bytes_at_mark);
  return change > 0 ? "+" + FormatByteCount(change) : FormatByteCount(change);
}

Paint PaintOf(const ReportSite& site) {
  if (IsLeak(site)) return site.verdict == Verdict::kMinorLeak ? Paint::kWarning : Paint::kAlarm;
  return site.verdict == Verdict::kSteady ? Paint::kDim : Paint::kPlain;
}

// With a framework's blocks, these are what is live on a device, and memory of the driver is not a share of them.
bool IsShareOfLive(const Report& report, const ReportSite& site) {
  const ReportDevice* const device = FindDevice(report, site.device);
  return site.level != Level::kDriver || device == nullptr || !device->peak.framework;
}

void AddTo(const Report& report, TopRow* row, const ReportSite& site, const TopView& view) {
  row->live_bytes += site.live_bytes;
  if (IsShareOfLive(report, site)) row->bytes_at_peak += site.bytes_at_peak;
  ++row->sites;
  if (!view.baseline) return;
  const auto before = view.baseline->find(site.id);
  if (before != view.baseline->end()) row->bytes_at_mark += before->second;
}

struct Column {
  const char* title;
  int width;
};
// Columns that a narrow terminal lacks are left out from the end; the place in the code is always there.
constexpr std::array<Column, 6> kColumns = {
    {{"PER STEP", 10}, {"LIVE", 10}, {"STATE", 19}, {"PEAK", 7}, {"KEPT", 8}, {"95 % CI", 22}}};
constexpr int kNarrowestPlace = 30;

using RowCells = std::array<std::string, kColumns.size()>;

// The columns of the table: those that are not empty, as many as fit.
std::vector<size_t> ShownColumns(const std::vector<RowCells>& table, int columns) {
  std::vector<size_t> shown;
  int left = columns - kNarrowestPlace - 2;
  for (size_t i = 0; i < kColumns.size(); ++i) {
    if (std::all_of(table.begin(), table.end(), [i](const RowCells& cells) { return cells[i].empty(); })) continue;
    left -= kColumns[i].width + 1;
    if (left < 0) break;
    shown.push_back(i);
  }
  return shown;
}

std::string RowText(const RowCells& cells, const std::string& place, const std::vector<size_t>& shown, int columns) {
  std::string row;
  for (const size_t i : shown) {
    const bool is_word = i == 2;
    const std::string cell = CutEnd(cells[i], kColumns[i].width);
    absl::StrAppend(&row, is_word ? PadRight(cell, kColumns[i].width) : PadLeft(cell, kColumns[i].width), " ");
  }
  return absl::StrCat(row, " ", CutBeginning(place, columns - DisplayWidth(row) - 3));
}

RowCells CellsOf(const Report& report, const TopRow& row, const TopView& view) {
  // Of sites that are not judged together no interval is known.
  const std::string interval = row.sites == 1 || row.site->group ? IntervalText(*row.site) : "";
  return {RateText(row.rate_bytes, row.rate_objects),
          LiveText(row, view),
          row.state,
          ShareOfPeak(report, row),
          row.kept_objects > 0 ? FormatCount(row.kept_objects) : "",
          interval};
}

void AddTable(const Report& report, const std::vector<TopRow>& table, const TopView& view, const TextStyle& style,
              size_t rows, std::vector<std::string>* lines) {
  std::vector<RowCells> cells;
  for (const TopRow& row : table) cells.push_back(CellsOf(report, row, view));
  const std::vector<size_t> shown = ShownColumns(cells, style.columns);
  RowCells titles;
  for (size_t i = 0; i < titles.size(); ++i) titles[i] = kColumns[i].title;
  if (view.baseline) titles[1] = "SINCE MARK";
  lines->push_back(Painted(style, Paint::kBold, "  " + RowText(titles, "LINE", shown, style.columns)));
  if (table.empty()) lines->push_back(view.search.empty() ? "  nothing allocated yet" : "  no line matches");
  const size_t selected = SelectedIn(table, view);
  const size_t room = rows > 1 ? rows - 1 : 1;
  const size_t first = selected >= room ? selected - room + 1 : 0;
  for (size_t i = first; i < table.size() && i - first < room; ++i) {
    const ReportSite& site = *table[i].site;
    std::string place = table[i].place;
    if (site.holder && !site.holder->container.empty()) absl::StrAppend(&place, ", kept by ", site.holder->container);
    if (table[i].sites > 1) absl::StrAppend(&place, ", ", table[i].sites, " sites");
    const std::string row = RowText(cells[i], Printable(place), shown, style.columns);
    lines->push_back(absl::StrCat(i == selected ? "> " : "  ", Painted(style, PaintOf(site), row)));
  }
}

void AddStack(const Report& report, const ReportSite& site, const TextStyle& style, size_t rows,
              std::vector<std::string>* lines) {
  const size_t end = lines->size() + rows;
  const auto words = [&](const std::string& text) {
    for (const std::string& line : Wrap(Printable(text), style.columns - 2)) lines->push_back("  " + line);
  };
  lines->push_back(Painted(style, Paint::kBold,
                           CutEnd(Printable(absl::StrCat(StateText(report, site), "  ",
                                                         RateText(FiguresOf(site).bytes, FiguresOf(site).objects), "  ",
                                                         IntervalText(site))),
                                  style.columns)));
  words(site.explanation);
  if (site.holder) words(site.holder->explanation);
  if (site.holder && !site.holder->hint.empty()) words("fix: " + site.holder->hint);
  lines->push_back("");
  for (size_t i = 0; i < site.frames.size() && lines->size() < end; ++i) {
    const ReportFrame& frame = site.frames[i];
    const std::string text =
        absl::StrCat(i == site.blame_frame ? "> " : "  ", FrameLocation(frame), "  ", FrameFunction(frame));
    const std::string cut = CutEnd(Printable(text), style.columns);
    lines->push_back(i == site.blame_frame ? Painted(style, Paint::kBold, cut) : cut);
  }
  if (lines->size() > end) lines->resize(end);
}

}  // namespace

const char* TopOrderName(TopOrder order) {
  constexpr std::array<const char*, 3> kNames = {"rate", "live", "peak"};
  return kNames[static_cast<size_t>(order)];
}

TopBaseline BaselineOf(const Report& report) {
  TopBaseline baseline;
  for (const ReportSite& site : report.sites) baseline[site.id] = site.live_bytes;
  return baseline;
}

size_t SelectedIn(const std::vector<TopRow>& rows, const TopView& view) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&view](const TopRow& row) { return row.place == view.selected; });
  return found == rows.end() ? 0 : static_cast<size_t>(found - rows.begin());
}

std::vector<TopRow> TopRows(const Report& report, const TopView& view) {
  const SitePlaces places(report);
  const std::string wanted = absl::AsciiStrToLower(view.search);
  std::vector<TopRow> rows;
  std::map<std::pair<std::string, std::string>, size_t> known;  // by place and state
  std::map<const ReportSite*, size_t> leads;                    // rows of leaks by the site that leads them
  for (const ReportSite& site : report.sites) {
    if (!site.part_of.is_none() || site.category == "segment") continue;
    if (view.device && site.device != view.device) continue;
    TopRow row;
    row.place = PlaceText(places.Of(site));
    row.state = StateText(report, site);
    if (!absl::StrContains(absl::AsciiStrToLower(row.place), wanted)) continue;
    size_t at = rows.size();
    if (!IsLeak(site)) at = known.try_emplace({row.place, row.state}, at).first->second;
    if (at == rows.size()) {
      row.site = &site;
      rows.push_back(std::move(row));
    }
    TopRow& sum = rows[at];
    if (site.live_bytes > sum.site->live_bytes) sum.site = &site;
    AddTo(report, &sum, site, view);
    // Those of a leak are of its parts, too.
    sum.rate_bytes += FiguresOf(site).bytes;
    sum.rate_objects += FiguresOf(site).objects;
    sum.kept_objects += site.kept ? site.kept->survivor_objects : 0;
    if (IsLeak(site)) leads[&site] = at;
  }
  // What the parts of a leak hold is in the row of the site that leads it, as their rates are.
  for (const ReportSite& part : report.sites) {
    const auto lead = leads.find(FindSite(report, part.part_of));
    if (lead == leads.end() || part.category == "segment" || (view.device && part.device != view.device)) continue;
    AddTo(report, &rows[lead->second], part, view);
  }
  const auto key = [&view](const TopRow& row) {
    const double live = static_cast<double>(row.live_bytes);
    if (view.order == TopOrder::kLive) return std::make_tuple(0, live, 0.0);
    if (view.order == TopOrder::kPeak) return std::make_tuple(0, static_cast<double>(row.bytes_at_peak), live);
    const int group = IsLeak(*row.site) ? 2 : row.site->verdict == Verdict::kInsufficientEvidence ? 1 : 0;
    return std::make_tuple(group, row.rate_bytes, live);
  };
  std::stable_sort(rows.begin(), rows.end(), [&key](const TopRow& a, const TopRow& b) { return key(a) > key(b); });
  return rows;
}

std::vector<std::string> TopScreen(const Report& report, const TopView& view, const std::string& title,
                                   const std::string& footer, const TextStyle& style, size_t rows) {
  std::vector<std::string> lines = {Painted(style, Paint::kBold, CutEnd(Printable(title), style.columns))};
  size_t devices = 0;
  for (const ReportDevice& device : report.devices) {
    if (view.device && device.index != *view.device) continue;
    if (++devices > kMostDevices) break;
    AddDevice(report, device, style, &lines);
  }
  AddRanks(report, style, &lines);
  lines.push_back("");
  const size_t left = rows > lines.size() + 1 ? rows - lines.size() - 1 : 0;
  const std::vector<TopRow> table = TopRows(report, view);
  if (view.shows_stack && !table.empty()) {
    AddStack(report, *table[SelectedIn(table, view)].site, style, std::max(left, kFewestRows), &lines);
  } else {
    AddTable(report, table, view, style, std::max(left, kFewestRows), &lines);
  }
  if (rows > 0 && lines.size() > rows - 1) lines.resize(rows - 1);
  if (!footer.empty()) lines.push_back(Painted(style, Paint::kDim, CutEnd(Printable(footer), style.columns)));
  return lines;
}

}  // namespace vramtrack
