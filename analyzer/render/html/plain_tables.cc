// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/plain_tables.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/html/escape.h"
#include "analyzer/render/html/markup_table.h"
#include "analyzer/render/text/answer_words.h"
#include "analyzer/render/text/rank_curve_text.h"
#include "analyzer/render/text/rank_text.h"

namespace vramtrack {
namespace {

constexpr size_t kCurveColumns = 32;

std::string Bytes(uint64_t bytes) { return FormatByteCount(static_cast<double>(bytes)); }

std::string DeviceText(const std::optional<uint32_t>& device) { return device ? absl::StrCat(*device) : "host"; }

std::string Place(const ReportFrame* frame) {
  return frame == nullptr ? "(no stack recorded)" : absl::StrCat(FrameLocation(*frame), FunctionBehindLocation(*frame));
}

std::string Leaks(const Report& report, const SitePlaces& places) {
  MarkupTable table("Leaks", {"line", "verdict", "rate", "live at the end", "peak without it", "why"});
  for (const std::string& id : report.ranking) {
    const ReportSite* site = FindSite(report, id);
    if (site == nullptr) continue;
    table.Row({Place(places.Of(*site)), NameOf(site->verdict), LeakRate(*site),
               Bytes(site->group ? site->group->live_bytes : site->live_bytes),
               Bytes(site->group ? site->group->peak_without : site->peak_without_site), site->explanation});
  }
  return table.Finish();
}

std::string Peaks(const Report& report) {
  std::string text;
  for (const ReportPeakLines& lines : report.peak_lines) {
    MarkupTable table(
        lines.device ? absl::StrCat("At the peak of device ", *lines.device) : "At the peak of host memory",
        {"line", "bytes", "call stacks", "peak without it", "category"});
    for (const ReportPeakLine& line : lines.lines) {
      table.Row({Place(line.line ? &*line.line : nullptr), Bytes(line.bytes), FormatCount(line.sites),
                 Bytes(line.peak_without), line.category});
    }
    if (lines.other_sites > 0) {
      table.Row({"in no other row", Bytes(lines.other_bytes), FormatCount(lines.other_sites), "", ""});
    }
    text += table.Finish();
  }
  return text;
}

// Those whose curves the report has, in their order: those that are unlike the others first.
std::string Ranks(const Report& report, const SitePlaces& places) {
  std::vector<const ReportRank*> shown;
  for (const ReportRank& rank : report.ranks) {
    if (rank.curve) shown.push_back(&rank);
  }
  std::sort(shown.begin(), shown.end(),
            [](const ReportRank* a, const ReportRank* b) { return a->curve->order < b->curve->order; });
  TextStyle style;
  style.unicode = true;
  const RankCurveText curves(report, style, kCurveColumns);
  MarkupTable table("Memory of the ranks, on one scale",
                    {"rank", "live over the run", "peak", "at the end", "unlike the others"});
  const auto whole = [](const std::string& text) {
    return absl::StrCat("<span class=\"whole\">", EscapeHtml(text), "</span>");
  };
  for (const ReportRank* rank : shown) {
    table.MarkupRow({whole(RankName(*rank)), absl::StrCat("<code class=\"whole\">", curves.Of(*rank), "</code>"),
                     whole(Bytes(rank->peak_live)), whole(Bytes(rank->end_live)),
                     EscapeHtml(RankDifferences(report, places, *rank))});
  }
  return table.Finish();
}

std::string Sites(const Report& report, const SitePlaces& places) {
  MarkupTable table("Sites", {"site", "line", "device", "kind", "category", "verdict", "allocations", "frees",
                              "at the peak", "live at the end"});
  for (const ReportSite& site : report.sites) {
    table.Row({site.id, Place(places.Of(site)), DeviceText(site.device), site.kind, site.category, NameOf(site.verdict),
               FormatCount(site.allocations), FormatCount(site.frees), Bytes(site.bytes_at_peak),
               Bytes(site.live_bytes)});
  }
  return table.Finish();
}

}  // namespace

std::string PlainTables(const Report& report) {
  const SitePlaces places(report);
  return Leaks(report, places) + Peaks(report) + Ranks(report, places) + Sites(report, places);
}

}  // namespace vramtrack
