// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

// As many failures of one process may be a part of all; see FailureLog in analyzer/peaks.
constexpr size_t kMostOfOneProcess = 32;

void WritePlace(const std::string& figures, const OomLine& line, Page* page) {
  const TextStyle& style = page->style();
  const std::string begin = absl::StrCat(figures, "  ", Painted(style, Paint::kAlarm, line.leak ? "leak  " : "      "));
  const std::string sites = line.sites > 1 ? absl::StrCat("  (", Plural(line.sites, "site", "sites"), ")") : "";
  const int left = style.columns - kFindingIndent - DisplayWidth(begin) - DisplayWidth(sites);
  page->Line(absl::StrCat(begin, CutEnd(line.place, left), Painted(style, Paint::kDim, sites)), kFindingIndent);
}

void WriteMore(size_t all, size_t shown, Page* page) {
  if (all > shown) page->Line(absl::StrCat("and ", FormatCount(all - shown), " more"), kFindingIndent);
}

// How many failed, who asked, and whether that was the end.
std::string Circumstances(const Report& report, const ReportOom& oom) {
  std::string text;
  if (report.oom.size() > 1) {
    // A process keeps no more of its failures than the first and the last ones.
    absl::StrAppend(&text, " ", report.oom.size() < kMostOfOneProcess ? "" : "At least ",
                    FormatCount(report.oom.size()), " allocations failed; this is the last.");
  }
  if (report.processes.size() > 1) absl::StrAppend(&text, " Requested by ", ProcessName(oom.rank, oom.pid), ".");
  if (oom.went_on) absl::StrAppend(&text, " The job went on.");
  return text;
}

void WriteHeld(const TextView& view, const ReportOom& oom, const OomWords& words, size_t top) {
  uint64_t leaked = 0;
  for (const auto& [site, bytes] : oom.holders) {
    const ReportSite* const holder = FindSite(view.report, site);
    if (holder != nullptr && IsJustLeaked(*holder)) leaked += bytes;
  }
  const std::string categories = CategoriesText(oom.categories, leaked);
  if (!categories.empty() || !oom.holders.empty()) {
    view.page->Words(absl::StrCat("held at that moment:", categories.empty() ? "" : " ", categories), kFindingIndent);
  }
  for (size_t i = 0; i < words.holders.size() && i < top; ++i) {
    WritePlace(PadLeft(BytesText(words.holders[i].now), 9), words.holders[i], view.page);
  }
  WriteMore(words.holders.size(), top, view.page);
}

// Who held the memory, if a walk shows it.
void WriteHeldBy(const ReportOom& oom, int indent, size_t top, Page* page) {
  if (oom.held_by.empty()) return;
  page->Line("held at that moment, by name:", indent);
  const TextStyle& style = page->style();
  for (size_t i = 0; i < oom.held_by.size() && i < top; ++i) {
    const ReportHolderShare& holder = oom.held_by[i];
    std::string what = holder.type;
    if (holder.count) {
      absl::StrAppend(&what, what.empty() ? "" : ", ", Plural(*holder.count, "entry", "entries"));
    }
    std::string line = absl::StrCat(PadLeft(BytesText(holder.bytes), 10), "  ", InStyle(style, holder.path));
    if (!what.empty()) absl::StrAppend(&line, "  (", Printable(what), ")");
    page->Line(CutEnd(line, style.columns - indent), indent);
  }
}

}  // namespace

void WriteOutOfMemory(const TextView& view) {
  constexpr size_t kShort = 3;
  const Report& report = view.report;
  if (report.oom.empty()) return;
  Page* const page = view.page;
  const ReportOom& oom = report.oom.back();
  const OomWords words = WordsOf(report, oom, OomLines(report));
  // Nobody is to blame: all that is known may help.
  const bool whole = view.options.Whole("oom") || !words.headline.names_line;
  const size_t top = view.options.Whole("oom") ? view.options.top : kShort;
  const auto write = [page](const std::string& text) {
    if (!text.empty()) page->Words(text, kFindingIndent);
  };
  page->Words(words.headline.text, 15, Paint::kBold, Painted(page->style(), Paint::kAlarm, "OUT OF MEMORY"));
  write(absl::StrCat(words.request, ".", Circumstances(report, oom)));
  write(words.setting);
  if (whole) {
    write(words.framework);
    // No frame is to blame: the last caller is only the victim.
    if (!oom.stack.empty()) {
      WriteStack(oom.stack, oom.stack.size(), view.options.every_frame ? SIZE_MAX : kShortFrames, page);
    }
    WriteHeld(view, oom, words, top);
  }
  WriteHeldBy(oom, kFindingIndent, top, page);
  // What a leak holds more than a step before is its rate.
  const bool grown = view.options.Whole("oom") || !oom.answer || !oom.answer->leak;
  if (oom.compared_step && grown) {
    write(words.change);
    for (size_t i = 0; i < words.grown.size() && i < top; ++i) {
      const OomLine& line = words.grown[i];
      WritePlace(PadLeft(absl::StrCat("+", BytesText(line.now - line.then)), 10) +
                     PadLeft(absl::StrCat("  ", BytesText(line.then), " to ", BytesText(line.now)), 24),
                 line, page);
    }
    WriteMore(words.grown.size(), top, page);
  }
}

}  // namespace vramtrack
