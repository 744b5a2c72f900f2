// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/plain_tables.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/render/answer.h"
#include "analyzer/render/answer_words.h"
#include "analyzer/render/frame_text.h"
#include "analyzer/render/html/markup_table.h"
#include "analyzer/render/quantity.h"
#include "analyzer/site_places.h"

namespace vramtrack {
namespace {

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
    table.Row({Place(places.Of(*site)), site->verdict, LeakRate(*site),
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

std::string Sites(const Report& report, const SitePlaces& places) {
  MarkupTable table("Sites", {"site", "line", "device", "kind", "category", "verdict", "allocations", "frees",
                              "at the peak", "live at the end"});
  for (const ReportSite& site : report.sites) {
    table.Row({site.id, Place(places.Of(site)), DeviceText(site.device), site.kind, site.category, site.verdict,
               FormatCount(site.allocations), FormatCount(site.frees), Bytes(site.bytes_at_peak),
               Bytes(site.live_bytes)});
  }
  return table.Finish();
}

}  // namespace

std::string PlainTables(const Report& report) {
  const SitePlaces places(report);
  return Leaks(report, places) + Peaks(report) + Sites(report, places);
}

}  // namespace vramtrack
