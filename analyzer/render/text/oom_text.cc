// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/render/text/answer_words.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {
namespace {

// As many failures of one process may be a part of all; see FailureLog in analyzer/peaks.
constexpr size_t kMostOfOneProcess = 32;

// The state of the allocator that gave up.
std::string Framework(const Report& report, const ReportOom& oom) {
  std::string name = "PyTorch";
  for (const ReportProcess& process : report.processes) {
    for (const ReportAllocator& allocator : process.allocators) {
      if (allocator.device == oom.device) name = Printable(allocator.framework);
    }
  }
  std::string text = absl::StrCat(name, ": ", BytesText(*oom.live), " of ", BytesText(*oom.reserved),
                                  " reserved in use, largest free block ", BytesText(*oom.largest_hole), ".");
  if (oom.device_free) absl::StrAppend(&text, " Device: ", BytesText(*oom.device_free), " free.");
  return text;
}

// Why a hole is of no use: a pool's segments serve that pool only. Empty where that is not the reason.
std::string OtherPool(const ReportOom& oom) {
  if (!oom.pool || !oom.pool_hole || !oom.segment_bytes || !oom.largest_hole) return "";
  if (*oom.pool_hole >= oom.requested || *oom.largest_hole < oom.requested) return "";
  return absl::StrCat(BytesText(oom.requested), " needs ", BytesText(*oom.segment_bytes),
                      " from the device, for a segment of ", "the ", NameOf(*oom.pool), " pool; the ",
                      BytesText(*oom.largest_hole), " free block is in the ",
                      oom.pool == BlockSizeClass::kSmall ? "large" : "small", " pool.");
}

// What a colleague would say who has looked at the steps before.
std::string Difference(const ReportOom& oom) {
  const auto bytes = [](uint64_t count) { return FormatByteCount(static_cast<double>(count)); };
  std::string text;
  if (oom.now > oom.then) {
    text = absl::StrCat("That is ", bytes(oom.now - oom.then), " more than in step ", *oom.compared_step,
                        oom.same_point ? ", at the same point of it." : ", at its peak.");
  } else {
    text = absl::StrCat("Step ", *oom.compared_step, ", which succeeded, held as much",
                        oom.same_point ? " at the same point." : " at its peak.");
  }
  if (oom.size_change == SizeChange::kSame) {
    absl::StrAppend(&text, " This step's own allocations are as large as before.");
  } else if (oom.size_change) {
    absl::StrAppend(
        &text, " This step allocates ", absl::StrFormat("%.1f", oom.size_ratio.value_or(0)),
        " times what the steps before did at the same lines: ",
        oom.size_change == SizeChange::kLarger ? "longer sequences or a larger batch." : "the batch is not larger.");
  }
  return text;
}

void WritePlace(const std::string& figures, const OomLine& line, Page* page) {
  const TextStyle& style = page->style();
  const std::string begin = absl::StrCat(figures, "  ", Painted(style, Paint::kAlarm, line.leak ? "leak  " : "      "));
  const std::string sites = line.sites > 1 ? absl::StrCat("  (", Plural(line.sites, "site", "sites"), ")") : "";
  const int left = style.columns - kFindingIndent - DisplayWidth(begin) - DisplayWidth(sites);
  page->Line(absl::StrCat(begin, CutEnd(line.place, left), Painted(style, Paint::kDim, sites)), kFindingIndent);
}

// Who held the memory: the leaks, if they held much, or the line that held most. Empty if no line held much.
std::string AnswerText(const ReportOom& oom, const std::vector<OomLine>& holders) {
  if (!oom.answer) return "";
  const ReportOom::Answer& answer = *oom.answer;
  const auto line = std::find_if(holders.begin(), holders.end(), [&](const OomLine& one) {
    return one.site == answer.site && one.leak == answer.leak;
  });
  if (line == holders.end()) return "";
  const std::string others =
      answer.other_leaks == 0 ? "" : absl::StrCat(" and ", Plural(answer.other_leaks, "other leak", "other leaks"));
  return absl::StrCat(FormatPercent(answer.share), " (", BytesText(answer.bytes), ") was held by ",
                      answer.leak ? "the leak at " : "", line->place, others, ".");
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

std::string CauseWords(const ReportOom& oom) {
  if (oom.cause == OomCause::kAmount) return "Not enough memory was left.";
  if (oom.cause == OomCause::kContiguity) return "Enough memory was free, but fragmented: no piece was large enough.";
  if (DeviceHadRoom(oom)) {
    return "The device had room, so the cause is unclear: a limit of the process (such as PyTorch's "
           "set_per_process_memory_fraction), or memory of other processes.";
  }
  return "Cause unclear: exhausted or fragmented.";
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
  page->Words(why, kFindingIndent);
  if (const std::string pool = OtherPool(oom); !pool.empty()) page->Words(pool, kFindingIndent);
  const OomLines lines(report);
  const std::vector<OomLine> holders = lines.Holders(oom);
  if (const std::string answer = AnswerText(oom, holders); !answer.empty()) {
    page->Words(answer, kFindingIndent, Paint::kBold);
  }
  if (oom.level == Level::kFramework && oom.live && oom.reserved && oom.largest_hole) {
    page->Words(Framework(report, oom), kFindingIndent);
  }
  if (!oom.stack.empty()) {
    TextStyle narrower = style;
    narrower.columns -= kFindingIndent - 2;
    // No frame is to blame: the last caller is only the victim.
    for (const std::string& line : StackLines(narrower, oom.stack, oom.stack.size(), frames)) {
      page->Line(line, kFindingIndent - 2);
    }
  }
  if (const std::string categories = CategoriesText(oom.categories); !categories.empty()) {
    page->Words("held at that moment: " + categories, kFindingIndent);
  } else if (!oom.holders.empty()) {
    page->Line("held at that moment:", kFindingIndent);
  }
  for (size_t i = 0; i < holders.size() && i < top; ++i)
    WritePlace(PadLeft(BytesText(holders[i].now), 9), holders[i], page);
  WriteMore(holders.size(), top, page);
  WriteHeldBy(oom, kFindingIndent, top, page);
  // A leak fills whatever a setting saves.
  if (!oom.would_fit.empty() && !(oom.answer && oom.answer->leak)) {
    const auto& [setting, bytes] = oom.would_fit.front();
    page->Words(absl::StrCat("It would have fit with ", setting,
                             " (largest request that would have succeeded: ", BytesText(bytes), ")."),
                kFindingIndent);
  }
  if (!oom.compared_step) return;
  page->Words(Difference(oom), kFindingIndent);
  std::vector<OomLine> grown = lines.Of(oom.changes);
  grown.erase(std::remove_if(grown.begin(), grown.end(), [](const OomLine& line) { return line.now <= line.then; }),
              grown.end());
  for (size_t i = 0; i < grown.size() && i < top; ++i) {
    const OomLine& line = grown[i];
    WritePlace(PadLeft(absl::StrCat("+", BytesText(line.now - line.then)), 10) +
                   PadLeft(absl::StrCat("  ", BytesText(line.then), " to ", BytesText(line.now)), 24),
               line, page);
  }
  WriteMore(grown.size(), top, page);
}

}  // namespace vramtrack
