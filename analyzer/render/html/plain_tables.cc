// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/plain_tables.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/render/answer.h"
#include "analyzer/render/answer_words.h"
#include "analyzer/render/frame_text.h"
#include "analyzer/render/html/escape.h"
#include "analyzer/render/quantity.h"
#include "analyzer/site_places.h"

namespace vramtrack {
namespace {

constexpr size_t kMostRows = 200;

std::string Bytes(uint64_t bytes) { return FormatByteCount(static_cast<double>(bytes)); }

std::string DeviceText(const std::optional<uint32_t>& device) { return device ? absl::StrCat(*device) : "host"; }

std::string Place(const ReportFrame* frame) {
  return frame == nullptr ? "(no stack recorded)" : absl::StrCat(FrameLocation(*frame), FunctionBehindLocation(*frame));
}

class Table {
 public:
  Table(const std::string& title, std::initializer_list<const char*> columns) {
    absl::StrAppend(&text_, "<h2>", EscapeHtml(title), "</h2>\n<div class=\"scroll\"><table>\n<thead><tr>");
    for (const char* column : columns) absl::StrAppend(&text_, "<th scope=\"col\">", column, "</th>");
    text_ += "</tr></thead>\n<tbody>\n";
  }
  // What is not shown is counted.
  void Row(std::initializer_list<std::string> cells) {
    if (++rows_ > kMostRows) return;
    text_ += "<tr>";
    for (const std::string& cell : cells) absl::StrAppend(&text_, "<td>", EscapeHtml(cell), "</td>");
    text_ += "</tr>\n";
  }
  std::string Finish() {
    if (rows_ == 0) return "";
    text_ += "</tbody></table></div>\n";
    if (rows_ > kMostRows) absl::StrAppend(&text_, "<p>and ", FormatCount(rows_ - kMostRows), " more</p>\n");
    return text_;
  }

 private:
  std::string text_;
  size_t rows_ = 0;
};

std::string Leaks(const Report& report, const SitePlaces& places) {
  Table table("Leaks", {"line", "verdict", "rate", "live at the end", "peak without it", "why"});
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
    Table table(lines.device ? absl::StrCat("At the peak of device ", *lines.device) : "At the peak of host memory",
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
  Table table("Sites", {"site", "line", "device", "kind", "category", "verdict", "allocations", "frees", "at the peak",
                        "live at the end"});
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
