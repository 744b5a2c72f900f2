// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/text/answer_words.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/sections.h"

namespace vramtrack {
namespace {

// Growth of less than this is not shown for a line.
constexpr double kBytesThatMatter = 512;

std::string Place(const std::vector<ReportFrame>& stack) {
  if (stack.empty()) return "an unknown place";
  const size_t named = NamingFrame(stack, 0);
  const ReportFrame& frame = stack[named < stack.size() ? named : 0];
  return absl::StrCat(FrameLocation(frame), FunctionBehindLocation(frame));
}

std::string Range(const ReportSleep& sleep, uint64_t ReportSleep::Cycle::*field) {
  uint64_t least = sleep.times.front().*field, most = least;
  for (const ReportSleep::Cycle& cycle : sleep.times) {
    least = std::min(least, cycle.*field);
    most = std::max(most, cycle.*field);
  }
  return least == most ? BytesText(most) : absl::StrCat(BytesText(least), " to ", BytesText(most));
}

std::string Growth(const ReportSleep& sleep) {
  if (!sleep.bytes_per_cycle) return "";
  std::string text =
      absl::StrCat(", ", *sleep.bytes_per_cycle < 0 ? "" : "+", FormatByteCount(*sleep.bytes_per_cycle), " per cycle");
  if (sleep.has_interval && sleep.ci_low < sleep.ci_high) {
    absl::StrAppend(&text, " (95 % CI ", FormatByteCount(sleep.ci_low), " to ", FormatByteCount(sleep.ci_high), ")");
  }
  return text;
}

void WriteSleep(const ReportSleep& sleep, const std::string& of, size_t top, Page* page) {
  if (sleep.times.empty()) return;
  page->Section(absl::StrCat("Sleep and wake on device ", sleep.device, of));
  page->Words(
      absl::StrCat(FormatCount(sleep.cycles), sleep.cycles == 1 ? " cycle" : " cycles", ", each releases ",
                   Range(sleep, &ReportSleep::Cycle::released_bytes), sleep.asleep_at_end ? "; asleep at the end" : ""),
      kSectionIndent);
  const ReportSleep::Cycle& first = sleep.times.front();
  const ReportSleep::Cycle& last = sleep.times.back();
  std::string held = absl::StrCat("in use while asleep: ", BytesText(first.held_bytes));
  if (sleep.times.size() > 1)
    absl::StrAppend(&held, " in the first cycle, ", BytesText(last.held_bytes), " in the last");
  page->Words(absl::StrCat(held, Growth(sleep)), kSectionIndent);
  page->Line("what lived through the last sleep:", kSectionIndent);
  for (size_t i = 0; i < sleep.lines.size() && i < top; ++i) {
    const ReportSleepLine& line = sleep.lines[i];
    std::string text = absl::StrCat(BytesText(line.last_bytes), "  ", Place(line.stack));
    if (line.level == Level::kDriver && !line.owner.empty()) absl::StrAppend(&text, "  (of ", line.owner, ")");
    if (line.bytes_per_cycle.value_or(0) >= kBytesThatMatter) {
      absl::StrAppend(&text, ", +", FormatByteCount(*line.bytes_per_cycle), " per cycle");
    }
    page->Words(Printable(text), 2 * kSectionIndent);
  }
  if (sleep.lines.size() > top) {
    page->Line(absl::StrCat(FormatCount(sleep.lines.size() - top), " more lines"), 2 * kSectionIndent);
  }
  if (last.cached_bytes > 0) {
    page->Words(absl::StrCat(BytesText(last.cached_bytes),
                             "  free in the framework's segments: empty_cache() before the "
                             "sleep returns what it can"),
                2 * kSectionIndent);
  }
}

void WriteRepeatedFrees(const ReportProcess& process, const std::string& of, size_t top, Page* page) {
  if (process.repeated_frees.empty()) return;
  page->Section(absl::StrCat("Released twice", of));
  for (size_t i = 0; i < process.repeated_frees.size() && i < top; ++i) {
    const ReportRepeatedFree& repeated = process.repeated_frees[i];
    page->Words(absl::StrCat(repeated.kind, " memory of device ", repeated.device, ", ",
                             repeated.count == 1 ? "once" : absl::StrCat(FormatCount(repeated.count), " times"),
                             ": released again at ", Printable(Place(repeated.stack)), ", first released at ",
                             Printable(Place(repeated.first_stack))),
                kSectionIndent);
  }
}

}  // namespace

void WriteSleeps(const Report& report, size_t top, Page* page) {
  for (const ReportProcess& process : report.processes) {
    const std::string of =
        report.processes.size() == 1 ? "" : absl::StrCat(", ", ProcessName(process.rank, process.pid));
    for (const ReportSleep& sleep : process.sleeps) WriteSleep(sleep, of, top, page);
    WriteRepeatedFrees(process, of, top, page);
  }
}

}  // namespace vramtrack
