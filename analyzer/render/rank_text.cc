// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/rank_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/render/answer.h"
#include "analyzer/render/category_text.h"
#include "analyzer/render/display_text.h"
#include "analyzer/render/frame_text.h"
#include "analyzer/render/quantity.h"
#include "analyzer/site_places.h"

namespace vramtrack {
namespace {

constexpr int kIndent = 2;

std::string Bytes(double bytes) { return FormatByteCount(bytes); }

std::string NameOf(const ReportRank& rank) {
  return rank.rank ? absl::StrCat("rank ", *rank.rank) : absl::StrCat("process ", rank.pid);
}

std::string Reason(const Report& report, const ReportRank::Difference& difference) {
  if (difference.what == "leak") {
    const ReportSite* site = FindSite(report, difference.site);
    std::string text =
        absl::StrCat("leaks ", Bytes(difference.value), " per ", site == nullptr ? "step" : site->rate_unit);
    const ReportFrame* frame = site == nullptr ? nullptr : SitePlaces(report).Of(*site);
    if (frame != nullptr) absl::StrAppend(&text, " at ", FrameLocation(*frame), FunctionBehindLocation(*frame));
    return absl::StrCat(text, ", where ", report.ranks.size() == 2 ? "the other does" : "most others do", " not");
  }
  const std::string others = report.ranks.size() == 2 ? "the other has " : "the others have ";
  const std::string usual = absl::StrCat(" (", others, Bytes(difference.usual), ")");
  if (difference.what == "growth") return absl::StrCat("grows by ", Bytes(difference.value), " per step", usual);
  if (difference.what == "peak") return absl::StrCat("peaks at ", Bytes(difference.value), usual);
  if (difference.what == "category") {
    return absl::StrCat("holds ", Bytes(difference.value), " of ", CategoryText(difference.category), " at its peak",
                        usual);
  }
  return absl::StrCat("holds ", Bytes(difference.value), " at the end", usual);
}

// "rank 3 leaks ..., peaks at ..."
std::string Sentence(const Report& report, const ReportRank& rank) {
  std::vector<std::string> reasons;
  for (const ReportRank::Difference& difference : rank.differs) reasons.push_back(Reason(report, difference));
  return absl::StrCat(NameOf(rank), " differs: it ", absl::StrJoin(reasons, "; it "));
}

std::string Row(const std::string& name, const std::string& process, const std::string& devices,
                const std::string& peak, const std::string& end, const std::string& growth, const std::string& leaks) {
  std::string row = absl::StrCat(PadLeft(name, 4), PadLeft(process, 9), PadLeft(devices, 8), PadLeft(peak, 11),
                                 PadLeft(end, 12), PadLeft(growth, 17), "  ", leaks);
  row.erase(row.find_last_not_of(' ') + 1);
  return row;
}

std::string RowOf(const ReportRank& rank) {
  const std::string leaks = rank.leaks == 0 ? "no leak" : Plural(rank.leaks, "leak", "leaks");
  return Row(rank.rank ? absl::StrCat(*rank.rank) : "-", absl::StrCat(rank.pid), absl::StrJoin(rank.devices, ","),
             Bytes(static_cast<double>(rank.peak_live)), Bytes(static_cast<double>(rank.end_live)),
             rank.growth_bytes_per_step ? Bytes(*rank.growth_bytes_per_step) : "unknown", leaks);
}

}  // namespace

void WriteRanks(const Report& report, size_t most, Page* page) {
  if (report.ranks.empty()) return;
  const TextStyle& style = page->style();
  page->Section(report.ranks[0].rank ? "Ranks" : "Processes");
  page->Line(Painted(style, Paint::kDim, Row("rank", "process", "device", "peak", "at the end", "growth per step", "")),
             kIndent);
  size_t differing = 0;
  for (const ReportRank& rank : report.ranks) differing += !rank.differs.empty();
  size_t alike = most > differing ? most - differing : 0, left_out = 0;
  for (const ReportRank& rank : report.ranks) {
    const bool differs = !rank.differs.empty();
    if (!differs && alike == 0) {
      ++left_out;
      continue;
    }
    if (!differs) --alike;
    page->Line(Painted(style, differs ? Paint::kBold : Paint::kPlain, RowOf(rank)), kIndent);
  }
  if (left_out > 0) page->Line(absl::StrCat("and ", FormatCount(left_out), " more that do not differ"), kIndent + 2);
  if (differing == 0) page->Line("none differs from the others", kIndent);
  for (const ReportRank& rank : report.ranks) {
    if (!rank.differs.empty()) page->Words(Sentence(report, rank), kIndent, Paint::kBold);
  }
}

void WriteRanksInShort(const Report& report, size_t most, Page* page) {
  for (const ReportRank& rank : report.ranks) {
    if (rank.differs.empty()) continue;
    if (most-- == 0) return;
    page->Words(CutEnd(Sentence(report, rank), 2 * page->style().columns), 0);
  }
}

}  // namespace vramtrack
