// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/oom_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/render/answer.h"
#include "analyzer/render/category_text.h"
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

struct SiteLine {
  std::string figures, site;
};

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

// What a colleague would say who has looked at the steps before.
std::string Difference(const ReportOom& oom) {
  const auto bytes = [](uint64_t count) { return FormatByteCount(static_cast<double>(count)); };
  std::string text;
  if (oom.now > oom.then) {
    text = absl::StrCat("That is ", bytes(oom.now - oom.then), " more than in step ", *oom.compared_step,
                        oom.same_point ? ", at the same point of it." : ", at its peak.");
  } else {
    text = absl::StrCat("Step ", *oom.compared_step, ", which went well, held as much",
                        oom.same_point ? " at the same point." : " at its peak.");
  }
  constexpr double kLarger = 1.1;
  if (oom.size_ratio && (*oom.size_ratio > kLarger || *oom.size_ratio < 1 / kLarger)) {
    absl::StrAppend(&text, " This step allocates ", absl::StrFormat("%.1f", *oom.size_ratio),
                    " times what the steps before did at the same lines: ",
                    *oom.size_ratio > 1 ? "longer sequences or a larger batch." : "it is no larger batch.");
  } else if (oom.size_ratio) {
    absl::StrAppend(&text, " This step's own allocations are as large as before.");
  }
  return text;
}

void WriteSites(const Report& report, const std::vector<SiteLine>& lines, size_t top, Page* page) {
  const TextStyle& style = page->style();
  SitePlaces places(report);
  for (size_t i = 0; i < lines.size() && i < top; ++i) {
    const ReportSite* site = FindSite(report, lines[i].site);
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    const bool leak = std::find(report.ranking.begin(), report.ranking.end(), lines[i].site) != report.ranking.end();
    std::string line = absl::StrCat(lines[i].figures, "  ", Painted(style, Paint::kAlarm, leak ? "leak  " : "      "));
    int left = style.columns - kIndent - DisplayWidth(line);
    std::string place = frame == nullptr ? absl::StrCat("site ", Printable(lines[i].site)) : FrameLocation(*frame);
    const std::string function = frame == nullptr ? "" : FunctionBehindLocation(*frame);
    if (DisplayWidth(place) + DisplayWidth(function) <= left) place += function;
    page->Line(line + CutBeginning(place, left), kIndent);
  }
  if (lines.size() > top) page->Line(absl::StrCat("and ", FormatCount(lines.size() - top), " more"), kIndent);
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
  const auto bytes = [](uint64_t count) { return FormatByteCount(static_cast<double>(count)); };
  if (const std::string held = CategoriesText(oom.categories); !held.empty()) {
    page->Words("held at that moment: " + held, kIndent);
  } else if (!oom.holders.empty()) {
    page->Line("held at that moment:", kIndent);
  }
  std::vector<SiteLine> lines;
  for (const auto& [id, held] : oom.holders) lines.push_back({PadLeft(bytes(held), 9), id});
  WriteSites(report, lines, top, page);
  if (!oom.compared_step) return;
  page->Words(Difference(oom), kIndent);
  lines.clear();
  for (const ReportOom::Change& change : oom.changes) {
    if (change.now <= change.then) break;
    lines.push_back({PadLeft(absl::StrCat("+", bytes(change.now - change.then)), 10) +
                         PadLeft(absl::StrCat("  ", bytes(change.then), " to ", bytes(change.now)), 24),
                     change.site});
  }
  WriteSites(report, lines, top, page);
}

}  // namespace vramtrack
