// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/chart.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

constexpr size_t kAlike = 3, kRows = 16;
constexpr int kLeaksColumns = 9, kBeforeCurve = kSectionIndent + 63 + kLeaksColumns;
constexpr int kFewestCurveColumns = 12, kMostCurveColumns = 24;

std::string Row(const std::string& name, const std::string& process, const std::string& devices,
                const std::string& peak, const std::string& end, const std::string& growth, const std::string& leaks,
                const std::string& curve) {
  std::string row = absl::StrCat(PadLeft(name, 4), PadLeft(process, 9), PadLeft(devices, 8), PadLeft(peak, 11),
                                 PadLeft(end, 12), PadLeft(growth, 17), "  ", PadRight(leaks, kLeaksColumns), curve);
  row.erase(row.find_last_not_of(' ') + 1);
  return row;
}

std::string RowOf(const ReportRank& rank, const std::string& curve) {
  const std::string leaks = rank.leaks == 0 ? "no leak" : Plural(rank.leaks, "leak", "leaks");
  return Row(rank.rank ? absl::StrCat(*rank.rank) : "-", absl::StrCat(rank.pid), absl::StrJoin(rank.devices, ","),
             BytesText(rank.peak_live), BytesText(rank.end_live),
             rank.growth_bytes_per_step ? FormatByteCount(*rank.growth_bytes_per_step) : "unknown", leaks, curve);
}

// "and 9,997 that do not differ: they peak at 990 to 1,000 MiB, ..."
std::string Others(const std::vector<const ReportRank*>& ranks) {
  std::pair<double, double> peak(INFINITY, 0), end(INFINITY, 0), growth(INFINITY, -INFINITY);
  uint64_t least_leaks = UINT64_MAX, most_leaks = 0;
  for (const ReportRank* rank : ranks) {
    const auto extend = [](double value, std::pair<double, double>* range) {
      range->first = std::min(range->first, value);
      range->second = std::max(range->second, value);
    };
    extend(static_cast<double>(rank->peak_live), &peak);
    extend(static_cast<double>(rank->end_live), &end);
    if (rank->growth_bytes_per_step) extend(*rank->growth_bytes_per_step, &growth);
    least_leaks = std::min(least_leaks, rank->leaks);
    most_leaks = std::max(most_leaks, rank->leaks);
  }
  const bool one = ranks.size() == 1;
  std::string text = absl::StrCat("and ", FormatCount(ranks.size()),
                                  one ? " that does not differ: it peaks at " : " that do not differ: they peak at ",
                                  ByteSpan(peak), ", end with ", ByteSpan(end));
  if (growth.first <= growth.second) absl::StrAppend(&text, ", grow by ", ByteSpan(growth), " per step");
  const std::string leaks = most_leaks == 0             ? "no leak"
                            : least_leaks == most_leaks ? Plural(most_leaks, "leak", "leaks")
                                                        : absl::StrCat(least_leaks, " to ", most_leaks, " leaks");
  return absl::StrCat(text, "; ", leaks, one ? "" : " each");
}

}  // namespace

void WriteRanks(const TextView& view) {
  const Report& report = view.report;
  const SitePlaces& places = view.places;
  Page* const page = view.page;
  const std::vector<DifferingRanks> groups = RankGroups(report, places);
  const bool whole = view.options.Whole("ranks");
  if (report.ranks.empty() || (groups.empty() && !whole)) return;
  const size_t most = whole ? std::max(view.options.top, kRows) : view.options.top;
  const TextStyle& style = page->style();
  page->Section(report.ranks[0].rank ? "Ranks" : "Processes");
  std::vector<std::string> curves(report.ranks.size());
  const int room = std::min(style.columns - kBeforeCurve, kMostCurveColumns);
  const bool drawn = !groups.empty() && room >= kFewestCurveColumns;
  if (drawn) curves = RankCurves(report, style, static_cast<size_t>(room));
  page->Line(
      Painted(style, Paint::kDim,
              Row("rank", "process", "device", "peak", "at the end", "growth per step", "", drawn ? "live" : "")),
      kSectionIndent);
  // Of many that are alike a few stand for all.
  size_t alike = report.ranks.size() <= most ? most : kAlike, differing = most, left_out = 0;
  std::vector<const ReportRank*> others;
  for (size_t i = 0; i < report.ranks.size(); ++i) {
    const ReportRank& rank = report.ranks[i];
    const bool differs = !rank.differs.empty();
    size_t& rows = differs ? differing : alike;
    if (rows > 0) {
      --rows;
      page->Line(Painted(style, differs ? Paint::kBold : Paint::kPlain, RowOf(rank, curves[i])), kSectionIndent);
    } else if (differs) {
      ++left_out;
    } else {
      others.push_back(&rank);
    }
  }
  if (left_out > 0) page->Line(absl::StrCat("and ", FormatCount(left_out), " more that differ"), kSectionIndent + 2);
  if (!others.empty()) page->Words(Others(others), kSectionIndent + 2);
  for (size_t i = 0; i < groups.size() && i < most; ++i) {
    page->Words(RankSentence(report, places, groups[i]), kSectionIndent, Paint::kBold);
  }
}

}  // namespace vramtrack
