// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/text/answer_words.h"
#include "analyzer/render/text/chart.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {
namespace {

constexpr size_t kAlike = 3, kNames = 6;
constexpr int kLeaksColumns = 9, kBeforeCurve = kSectionIndent + 63 + kLeaksColumns;
constexpr int kFewestCurveColumns = 12, kMostCurveColumns = 24;

std::string Bytes(double bytes) { return FormatByteCount(bytes); }

// Ranks that differ in the same things.
struct Differing {
  std::vector<const ReportRank*> ranks;

  // The least and the most of one of these things.
  std::pair<double, double> RangeOf(size_t difference, double ReportRank::Difference::*figure) const {
    std::pair<double, double> range(ranks[0]->differs[difference].*figure, ranks[0]->differs[difference].*figure);
    for (const ReportRank* rank : ranks) {
      range.first = std::min(range.first, rank->differs[difference].*figure);
      range.second = std::max(range.second, rank->differs[difference].*figure);
    }
    return range;
  }
};

std::vector<Differing> InGroups(const Report& report, const SitePlaces& places) {
  std::vector<Differing> groups;
  std::map<std::vector<std::string>, size_t> by_things;
  for (const ReportRank& rank : report.ranks) {
    if (rank.differs.empty()) continue;
    std::vector<std::string> things;
    for (const ReportRank::Difference& difference : rank.differs) {
      // The ranks of a machine have the same line as sites of different devices.
      const ReportSite* site = FindSite(report, difference.site);
      const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
      things.insert(things.end(),
                    {NameOf(difference.what), difference.category, frame == nullptr ? "" : FrameLocation(*frame)});
    }
    const auto [group, is_new] = by_things.try_emplace(std::move(things), groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].ranks.push_back(&rank);
  }
  return groups;
}

std::string Range(const std::pair<double, double>& range) {
  const std::string low = Bytes(range.first), high = Bytes(range.second);
  return low == high ? low : absl::StrCat(low, " to ", high);
}

// "leaks ..., where most others do not": with another verb of several ranks.
std::string Reason(const Report& report, const SitePlaces& places, const Differing& group, size_t index) {
  const ReportRank::Difference& difference = group.ranks[0]->differs[index];
  const bool several = group.ranks.size() > 1;
  const auto verb = [several](const char* one) { return absl::StrCat(one, several ? "" : "s", " "); };
  const std::string value = Range(group.RangeOf(index, &ReportRank::Difference::value));
  if (difference.what == RankFigure::kLeak) {
    const ReportSite* site = FindSite(report, difference.site);
    std::string text =
        absl::StrCat(verb("leak"), value, " per ", NameOf(site == nullptr ? RateUnit::kStep : site->rate_unit));
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    if (frame != nullptr) absl::StrAppend(&text, " at ", FrameLocation(*frame), FunctionBehindLocation(*frame));
    return absl::StrCat(text, ", where ", report.ranks.size() == 2 ? "the other does" : "most others do", " not");
  }
  const std::string others = report.ranks.size() == 2 ? "the other has " : "the others have ";
  const std::string usual =
      absl::StrCat(" (", others, Range(group.RangeOf(index, &ReportRank::Difference::usual)), ")");
  if (difference.what == RankFigure::kGrowth) return absl::StrCat(verb("grow"), "by ", value, " per step", usual);
  if (difference.what == RankFigure::kPeak) return absl::StrCat(verb("peak"), "at ", value, usual);
  if (difference.what == RankFigure::kCategory) {
    return absl::StrCat(verb("hold"), value, " of ", CategoryText(difference.category), " at ",
                        several ? "their peaks" : "its peak", usual);
  }
  return absl::StrCat(verb("hold"), value, " at the end", usual);
}

// "ranks 3, 7, 11 and 397 more"
std::string NamesOf(const Differing& group) {
  if (group.ranks.size() == 1) return RankName(*group.ranks[0]);
  std::vector<std::string> names;
  const bool by_rank = group.ranks[0]->rank.has_value();
  for (size_t i = 0; i < group.ranks.size() && i < kNames; ++i) {
    names.push_back(by_rank ? absl::StrCat(*group.ranks[i]->rank) : absl::StrCat(group.ranks[i]->pid));
  }
  std::string last;
  if (group.ranks.size() > kNames) {
    last = FormatCount(group.ranks.size() - kNames) + " more";
  } else {
    last = names.back();
    names.pop_back();
  }
  return absl::StrCat(by_rank ? "ranks " : "processes ", absl::StrJoin(names, ", "), " and ", last);
}

// "rank 3 differs: it leaks ...; it peaks at ..."
std::string Sentence(const Report& report, const SitePlaces& places, const Differing& group) {
  const bool several = group.ranks.size() > 1;
  const char* they = several ? "they " : "it ";
  std::vector<std::string> reasons;
  for (size_t i = 0; i < group.ranks[0]->differs.size(); ++i)
    reasons.push_back(they + Reason(report, places, group, i));
  return absl::StrCat(NamesOf(group), several ? " differ: " : " differs: ", absl::StrJoin(reasons, "; "));
}

std::string Row(const std::string& name, const std::string& process, const std::string& devices,
                const std::string& peak, const std::string& end, const std::string& growth, const std::string& leaks,
                const std::string& curve) {
  std::string row = absl::StrCat(PadLeft(name, 4), PadLeft(process, 9), PadLeft(devices, 8), PadLeft(peak, 11),
                                 PadLeft(end, 12), PadLeft(growth, 17), "  ", PadRight(leaks, kLeaksColumns), curve);
  row.erase(row.find_last_not_of(' ') + 1);
  return row;
}

std::string RowOf(const ReportRank& rank, const RankCurveText* curves) {
  const std::string leaks = rank.leaks == 0 ? "no leak" : Plural(rank.leaks, "leak", "leaks");
  return Row(rank.rank ? absl::StrCat(*rank.rank) : "-", absl::StrCat(rank.pid), absl::StrJoin(rank.devices, ","),
             Bytes(static_cast<double>(rank.peak_live)), Bytes(static_cast<double>(rank.end_live)),
             rank.growth_bytes_per_step ? Bytes(*rank.growth_bytes_per_step) : "unknown", leaks,
             curves == nullptr ? "" : curves->Of(rank));
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
                                  Range(peak), ", end with ", Range(end));
  if (growth.first <= growth.second) absl::StrAppend(&text, ", grow by ", Range(growth), " per step");
  const std::string leaks = most_leaks == 0             ? "no leak"
                            : least_leaks == most_leaks ? Plural(most_leaks, "leak", "leaks")
                                                        : absl::StrCat(least_leaks, " to ", most_leaks, " leaks");
  return absl::StrCat(text, "; ", leaks, one ? "" : " each");
}

}  // namespace

std::string RankName(const ReportRank& rank) { return ProcessName(rank.rank, rank.pid); }

std::string RankDifferences(const Report& report, const SitePlaces& places, const ReportRank& rank) {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < rank.differs.size(); ++i) reasons.push_back(Reason(report, places, {{&rank}}, i));
  return absl::StrJoin(reasons, "; ");
}

void WriteRanks(const Report& report, size_t most, Page* page) {
  if (report.ranks.empty()) return;
  const TextStyle& style = page->style();
  const SitePlaces places(report);
  const std::vector<Differing> groups = InGroups(report, places);
  page->Section(report.ranks[0].rank ? "Ranks" : "Processes");
  std::optional<RankCurveText> drawn;
  const int room = std::min(style.columns - kBeforeCurve, kMostCurveColumns);
  if (!groups.empty() && room >= kFewestCurveColumns) drawn.emplace(report, style, static_cast<size_t>(room));
  const RankCurveText* const curves = drawn ? &*drawn : nullptr;
  page->Line(Painted(style, Paint::kDim,
                     Row("rank", "process", "device", "peak", "at the end", "growth per step", "",
                         curves == nullptr ? "" : "live")),
             kSectionIndent);
  // Of many that are alike a few stand for all.
  size_t alike = report.ranks.size() <= most ? most : kAlike, differing = most, left_out = 0;
  std::vector<const ReportRank*> others;
  for (const ReportRank& rank : report.ranks) {
    const bool differs = !rank.differs.empty();
    size_t& rows = differs ? differing : alike;
    if (rows > 0) {
      --rows;
      page->Line(Painted(style, differs ? Paint::kBold : Paint::kPlain, RowOf(rank, curves)), kSectionIndent);
    } else if (differs) {
      ++left_out;
    } else {
      others.push_back(&rank);
    }
  }
  if (left_out > 0) page->Line(absl::StrCat("and ", FormatCount(left_out), " more that differ"), kSectionIndent + 2);
  if (!others.empty()) page->Words(Others(others), kSectionIndent + 2);
  if (groups.empty()) page->Line("none differs from the others", kSectionIndent);
  for (size_t i = 0; i < groups.size() && i < most; ++i) {
    page->Words(Sentence(report, places, groups[i]), kSectionIndent, Paint::kBold);
  }
}

void WriteRanksInShort(const Report& report, size_t most, Page* page) {
  const SitePlaces places(report);
  for (const Differing& group : InGroups(report, places)) {
    if (most-- == 0) return;
    page->Words(CutEnd(Sentence(report, places, group), 2 * page->style().columns), 0);
  }
}

}  // namespace vramtrack
