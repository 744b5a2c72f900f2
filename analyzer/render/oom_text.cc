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
#include "analyzer/site_places.h"

namespace vramtrack {
namespace {

constexpr int kIndent = 6;

// How the allocator stood that gave up.
std::string Framework(const ReportOom& oom) {
  const auto bytes = [](uint64_t count) { return FormatByteCount(static_cast<double>(count)); };
  std::string text = absl::StrCat("It had given out ", bytes(*oom.live), " of ", bytes(*oom.reserved),
                                  " reserved; the largest hole in its segments is ", bytes(*oom.largest_hole));
  if (oom.device_free) absl::StrAppend(&text, ", and the device has ", bytes(*oom.device_free), " left");
  return text + ".";
}

// What sites of one line hold together, or those of one leak.
struct PlaceLine {
  std::string place;
  bool leak = false;
  uint64_t sites = 0;
  uint64_t then = 0, now = 0;  // bytes
};

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

// The places of `changes`, what grew most first.
std::vector<PlaceLine> PlacesOf(const Report& report, const std::vector<ReportOom::Change>& changes) {
  const SitePlaces places(report);
  std::vector<PlaceLine> lines;
  for (const ReportOom::Change& change : changes) {
    const ReportSite* site = FindSite(report, change.site);
    if (const ReportSite* leader = site == nullptr ? nullptr : FindSite(report, site->part_of)) site = leader;
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    const std::string place = frame == nullptr ? absl::StrCat("site ", Printable(change.site))
                                               : absl::StrCat(FrameLocation(*frame), FunctionBehindLocation(*frame));
    const bool leak = site != nullptr && IsLeak(*site);
    auto found = std::find_if(lines.begin(), lines.end(),
                              [&](const PlaceLine& line) { return line.place == place && line.leak == leak; });
    if (found == lines.end()) found = lines.insert(lines.end(), {place, leak});
    ++found->sites;
    found->then += change.then;
    found->now += change.now;
  }
  const auto growth = [](const PlaceLine& line) {
    return static_cast<int64_t>(line.now) - static_cast<int64_t>(line.then);
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const PlaceLine& a, const PlaceLine& b) { return growth(a) > growth(b); });
  return lines;
}

void WritePlace(const std::string& figures, const PlaceLine& line, Page* page) {
  const TextStyle& style = page->style();
  const std::string begin = absl::StrCat(figures, "  ", Painted(style, Paint::kAlarm, line.leak ? "leak  " : "      "));
  const std::string sites = line.sites > 1 ? absl::StrCat("  (", Plural(line.sites, "site", "sites"), ")") : "";
  const int left = style.columns - kIndent - DisplayWidth(begin) - DisplayWidth(sites);
  page->Line(absl::StrCat(begin, CutEnd(line.place, left), Painted(style, Paint::kDim, sites)), kIndent);
}

void WriteMore(size_t all, size_t shown, Page* page) {
  if (all > shown) page->Line(absl::StrCat("and ", FormatCount(all - shown), " more"), kIndent);
}

}  // namespace

std::string CauseWords(const ReportOom& oom) {
  if (oom.cause == "amount") return "There was not that much memory left.";
  if (oom.cause == "contiguity") return "Enough memory was free, but in pieces: fragmentation.";
  return "Whether too little was free or only in pieces is not known.";
}

std::string RequestWords(const ReportOom& oom) {
  std::string text = FormatByteCount(static_cast<double>(oom.requested)) + " requested";
  if (oom.free) absl::StrAppend(&text, ", ", FormatByteCount(static_cast<double>(*oom.free)), " free");
  if (oom.largest_free) {
    absl::StrAppend(&text, " (largest piece ", FormatByteCount(static_cast<double>(*oom.largest_free)), ")");
  }
  absl::StrAppend(&text, " on device ", oom.device);
  if (oom.step) absl::StrAppend(&text, " at step ", *oom.step);
  return text;
}

void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page) {
  if (report.oom.empty()) return;
  const TextStyle& style = page->style();
  const ReportOom& oom = report.oom.back();
  page->Words(RequestWords(oom), 15, Paint::kBold, Painted(style, Paint::kAlarm, "OUT OF MEMORY"));
  std::string why = CauseWords(oom);
  if (report.oom.size() > 1) {
    absl::StrAppend(&why, " It is one of ", FormatCount(report.oom.size()), " allocations that failed.");
  }
  if (report.processes.size() > 1) {
    absl::StrAppend(&why, oom.rank ? absl::StrCat(" Rank ", *oom.rank) : absl::StrCat(" Process ", oom.pid),
                    " asked for it.");
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
  if (const std::string categories = CategoriesText(oom.categories); !categories.empty()) {
    page->Words("held at that moment: " + categories, kIndent);
  } else if (!oom.holders.empty()) {
    page->Line("held at that moment:", kIndent);
  }
  std::vector<ReportOom::Change> held;
  for (const auto& [site, now] : oom.holders) held.push_back({site, 0, now});
  const std::vector<PlaceLine> holders = PlacesOf(report, held);
  for (size_t i = 0; i < holders.size() && i < top; ++i)
    WritePlace(PadLeft(bytes(holders[i].now), 9), holders[i], page);
  WriteMore(holders.size(), top, page);
  if (!oom.compared_step) return;
  page->Words(Difference(oom), kIndent);
  std::vector<PlaceLine> grown = PlacesOf(report, oom.changes);
  grown.erase(std::remove_if(grown.begin(), grown.end(), [](const PlaceLine& line) { return line.now <= line.then; }),
              grown.end());
  for (size_t i = 0; i < grown.size() && i < top; ++i) {
    const PlaceLine& line = grown[i];
    WritePlace(PadLeft(absl::StrCat("+", bytes(line.now - line.then)), 10) +
                   PadLeft(absl::StrCat("  ", bytes(line.then), " to ", bytes(line.now)), 24),
               line, page);
  }
  WriteMore(grown.size(), top, page);
}

}  // namespace vramtrack
