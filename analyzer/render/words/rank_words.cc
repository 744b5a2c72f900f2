// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/rank_words.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/words/answer_words.h"

namespace vramtrack {
namespace {

constexpr size_t kMostNames = 6;

// The least and the most of one of the things in which the ranks differ.
std::pair<double, double> RangeOf(const DifferingRanks& group, size_t difference,
                                  double ReportRank::Difference::*figure) {
  const auto [low, high] =
      std::minmax_element(group.begin(), group.end(), [&](const ReportRank* a, const ReportRank* b) {
        return a->differs[difference].*figure < b->differs[difference].*figure;
      });
  return {(*low)->differs[difference].*figure, (*high)->differs[difference].*figure};
}

// "leaks ..., where most others do not": with another verb of several ranks.
std::string Reason(const Report& report, const SitePlaces& places, const DifferingRanks& group, size_t index) {
  const ReportRank::Difference& difference = group[0]->differs[index];
  const bool several = group.size() > 1;
  const auto verb = [several](const char* one) { return absl::StrCat(one, several ? "" : "s", " "); };
  const std::string value = ByteSpan(RangeOf(group, index, &ReportRank::Difference::value));
  if (difference.what == RankFigure::kLeak) {
    const ReportSite* site = FindSite(report, difference.site);
    std::string text =
        absl::StrCat(verb("leak"), value, " per ", NameOf(site == nullptr ? RateUnit::kStep : site->rate_unit));
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    if (frame != nullptr) absl::StrAppend(&text, " at ", FramePlace(frame));
    return absl::StrCat(text, ", where ", report.ranks.size() == 2 ? "the other does" : "most others do", " not");
  }
  const std::string others = report.ranks.size() == 2 ? "the other has " : "the others have ";
  const std::string usual =
      absl::StrCat(" (", others, ByteSpan(RangeOf(group, index, &ReportRank::Difference::usual)), ")");
  if (difference.what == RankFigure::kGrowth) return absl::StrCat(verb("grow"), "by ", value, " per step", usual);
  if (difference.what == RankFigure::kPeak) return absl::StrCat(verb("peak"), "at ", value, usual);
  if (difference.what == RankFigure::kCategory) {
    return absl::StrCat(verb("hold"), value, " of ", CategoryText(difference.category), " at ",
                        several ? "their peaks" : "its peak", usual);
  }
  return absl::StrCat(verb("hold"), value, " at the end", usual);
}

// "ranks 3, 7, 11 and 397 more"
std::string NamesOf(const DifferingRanks& group) {
  if (group.size() == 1) return RankName(*group[0]);
  std::vector<std::string> names;
  const bool by_rank = group[0]->rank.has_value();
  for (size_t i = 0; i < group.size() && i < kMostNames; ++i) {
    names.push_back(by_rank ? absl::StrCat(*group[i]->rank) : absl::StrCat(group[i]->pid));
  }
  std::string last;
  if (group.size() > kMostNames) {
    last = FormatCount(group.size() - kMostNames) + " more";
  } else {
    last = names.back();
    names.pop_back();
  }
  return absl::StrCat(by_rank ? "ranks " : "processes ", absl::StrJoin(names, ", "), " and ", last);
}

}  // namespace

std::vector<DifferingRanks> RankGroups(const Report& report, const SitePlaces& places) {
  std::vector<DifferingRanks> groups;
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
    groups[group->second].push_back(&rank);
  }
  return groups;
}

std::vector<std::string> RankReasons(const Report& report, const SitePlaces& places, const DifferingRanks& group) {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < group[0]->differs.size(); ++i) reasons.push_back(Reason(report, places, group, i));
  return reasons;
}

std::string RankSentence(const Report& report, const SitePlaces& places, const DifferingRanks& group) {
  const char* const they = group.size() > 1 ? "they " : "it ";
  const char* const differ = group.size() > 1 ? " differ: " : " differs: ";
  return absl::StrCat(NamesOf(group), differ, they,
                      absl::StrJoin(RankReasons(report, places, group), absl::StrCat("; ", they)));
}

std::string RankName(const ReportRank& rank) { return ProcessName(rank.rank, rank.pid); }

std::string ByteSpan(const std::pair<double, double>& range) {
  const std::string low = FormatByteCount(range.first), high = FormatByteCount(range.second);
  return low == high ? low : absl::StrCat(low, " to ", high);
}

}  // namespace vramtrack
