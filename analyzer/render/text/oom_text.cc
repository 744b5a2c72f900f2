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
#include "analyzer/render/words/oom_words.h"

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

// How many steps a job of one process completed after the failure; the one that failed may end as well.
uint64_t StepsAfter(const Report& report, const ReportOom& oom) {
  if (report.processes.size() != 1 || report.steps.unit != StepUnit::kStep || !oom.step) return 0;
  const uint64_t failed = static_cast<uint64_t>(std::max<int64_t>(0, *oom.step));
  return report.steps.count > failed + 1 ? report.steps.count - failed - 1 : 0;
}

void WriteMore(size_t all, size_t shown, Page* page) {
  if (all > shown) page->Line(absl::StrCat("and ", FormatCount(all - shown), " more"), kFindingIndent);
}

}  // namespace

void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page) {
  if (report.oom.empty()) return;
  const TextStyle& style = page->style();
  const ReportOom& oom = report.oom.back();
  const OomWords words = WordsOf(report, oom, OomLines(report));
  const auto write = [page](const std::string& text, Paint paint = Paint::kPlain) {
    if (!text.empty()) page->Words(text, kFindingIndent, paint);
  };
  page->Words(words.request, 15, Paint::kBold, Painted(style, Paint::kAlarm, "OUT OF MEMORY"));
  std::string why = words.cause;
  if (report.oom.size() > 1) {
    // A process keeps no more of its failures than the first and the last ones.
    absl::StrAppend(&why, report.oom.size() < kMostOfOneProcess ? " " : " At least ", FormatCount(report.oom.size()),
                    " allocations failed; this is the last.");
  }
  if (report.processes.size() > 1) {
    absl::StrAppend(&why, " Requested by ", ProcessName(oom.rank, oom.pid), ".");
  }
  if (const uint64_t after = StepsAfter(report, oom); after > 1) {
    absl::StrAppend(&why, " The job went on: ", FormatCount(after), " steps followed.");
  }
  write(why);
  write(words.pool);
  write(words.answer, Paint::kBold);
  write(words.framework);
  // No frame is to blame: the last caller is only the victim.
  if (!oom.stack.empty()) WriteStack(oom.stack, oom.stack.size(), frames, page);
  if (const std::string categories = CategoriesText(oom.categories); !categories.empty()) {
    write("held at that moment: " + categories);
  } else if (!oom.holders.empty()) {
    write("held at that moment:");
  }
  for (size_t i = 0; i < words.holders.size() && i < top; ++i)
    WritePlace(PadLeft(BytesText(words.holders[i].now), 9), words.holders[i], page);
  WriteMore(words.holders.size(), top, page);
  WriteHeldBy(oom, kFindingIndent, top, page);
  write(words.setting);
  write(words.change);
  if (!oom.compared_step) return;
  for (size_t i = 0; i < words.grown.size() && i < top; ++i) {
    const OomLine& line = words.grown[i];
    WritePlace(PadLeft(absl::StrCat("+", BytesText(line.now - line.then)), 10) +
                   PadLeft(absl::StrCat("  ", BytesText(line.then), " to ", BytesText(line.now)), 24),
               line, page);
  }
  WriteMore(words.grown.size(), top, page);
}

}  // namespace vramtrack
