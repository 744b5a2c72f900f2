// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/oom_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "analyzer/render/answer.h"
#include "analyzer/render/display_text.h"
#include "analyzer/render/frame_text.h"
#include "analyzer/render/quantity.h"
#include "analyzer/render/site_places.h"

namespace vramtrack {
namespace {

constexpr int kIndent = 6;

std::string Cause(const ReportOom& oom) {
  if (oom.cause == "amount") return "There was not that much memory left.";
  if (oom.cause == "contiguity") return "Enough memory was free, but in pieces: fragmentation.";
  return "Whether too little was free or only in pieces is not known.";
}

// How the allocator stood that gave up.
std::string Framework(const ReportOom& oom) {
  const auto bytes = [](uint64_t count) { return FormatByteCount(static_cast<double>(count)); };
  std::string text = absl::StrCat("It had given out ", bytes(*oom.live), " of ", bytes(*oom.reserved),
                                  " reserved; the largest hole in its segments is ", bytes(*oom.largest_hole));
  if (oom.device_free) absl::StrAppend(&text, ", and the device has ", bytes(*oom.device_free), " left");
  return text + ".";
}

std::string Request(const ReportOom& oom) {
  std::string text = FormatByteCount(static_cast<double>(oom.requested)) + " requested";
  if (oom.free) absl::StrAppend(&text, ", ", FormatByteCount(static_cast<double>(*oom.free)), " free");
  if (oom.largest_free) {
    absl::StrAppend(&text, " (largest piece ", FormatByteCount(static_cast<double>(*oom.largest_free)), ")");
  }
  absl::StrAppend(&text, " on device ", oom.device);
  if (oom.step) absl::StrAppend(&text, " at step ", *oom.step);
  return text;
}

}  // namespace

void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page) {
  if (report.oom.empty()) return;
  const TextStyle& style = page->style();
  const ReportOom& oom = report.oom.back();
  page->Words(Request(oom), 15, Paint::kBold, Painted(style, Paint::kAlarm, "OUT OF MEMORY"));
  std::string why = Cause(oom);
  if (report.oom.size() > 1) {
    absl::StrAppend(&why, " It is one of ", FormatCount(report.oom.size()), " allocations that failed.");
  }
  page->Words(why, kIndent);
  if (oom.level == "framework" && oom.live && oom.reserved && oom.largest_hole) page->Words(Framework(oom), kIndent);
  if (!oom.stack.empty()) {
    TextStyle narrower = style;
    narrower.columns -= kIndent - 2;
    // No frame is to blame: whoever asks last is the victim.
    for (const std::string& line : StackLines(narrower, oom.stack, oom.stack.size(), frames)) {
      page->Line(line, kIndent - 2);
    }
  }
  if (!oom.would_fit.empty()) {
    const auto& [setting, bytes] = oom.would_fit.front();
    page->Words(absl::StrCat("It would have fitted with ", setting, ": ", FormatByteCount(static_cast<double>(bytes)),
                             " could then have been asked for."),
                kIndent);
  }
  if (oom.holders.empty()) return;
  SitePlaces places(report);
  page->Line("held at that moment:", kIndent);
  for (size_t i = 0; i < oom.holders.size() && i < top; ++i) {
    const auto& [id, bytes] = oom.holders[i];
    const ReportSite* site = FindSite(report, id);
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    bool leak = std::find(report.ranking.begin(), report.ranking.end(), id) != report.ranking.end();
    std::string line = absl::StrCat(PadLeft(FormatByteCount(static_cast<double>(bytes)), 9), "  ",
                                    Painted(style, Paint::kAlarm, leak ? "leak  " : "      "));
    int left = style.columns - kIndent - DisplayWidth(line);
    std::string place = frame == nullptr ? absl::StrCat("site ", Printable(id)) : FrameLocation(*frame);
    const std::string function = frame == nullptr ? "" : FunctionBehindLocation(*frame);
    if (DisplayWidth(place) + DisplayWidth(function) <= left) place += function;
    page->Line(line + CutBeginning(place, left), kIndent);
  }
  if (oom.holders.size() > top)
    page->Line(absl::StrCat("and ", FormatCount(oom.holders.size() - top), " more"), kIndent);
}

}  // namespace vramtrack
