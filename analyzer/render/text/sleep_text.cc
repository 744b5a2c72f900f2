// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/sections.h"
#include "analyzer/render/words/answer_words.h"

namespace vramtrack {
namespace {

// Growth of less than this is not shown for a line.
constexpr double kBytesThatMatter = 512;

// ", +4.00 MiB per cycle"; nothing where it is not known.
std::string PerCycle(const std::optional<double>& growth) {
  return growth ? absl::StrCat(", ", *growth < 0 ? "" : "+", FormatByteCount(*growth), " per cycle") : "";
}

void WriteSleep(const ReportSleep& sleep, const std::string& of, size_t top, Page* page) {
  page->Section(absl::StrCat("Sleep and wake on device ", sleep.device, of));
  page->Words(absl::StrCat(Plural(sleep.cycles, "cycle", "cycles"), ", the last one released ",
                           BytesText(sleep.released_bytes)),
              kSectionIndent);
  page->Words(absl::StrCat("in use while asleep: ", BytesText(sleep.first_bytes), " in the first cycle, ",
                           BytesText(sleep.last_bytes), " in the last", PerCycle(sleep.bytes_per_cycle)),
              kSectionIndent);
  page->Line("what lived through the last sleep:", kSectionIndent);
  for (size_t i = 0; i < sleep.lines.size() && i < top; ++i) {
    const ReportSleepLine& line = sleep.lines[i];
    std::string text = absl::StrCat(BytesText(line.last_bytes), "  ", StackPlace(line.stack));
    if (line.level == Level::kDriver && !line.owner.empty()) absl::StrAppend(&text, "  (of ", line.owner, ")");
    if (line.bytes_per_cycle.value_or(0) >= kBytesThatMatter) absl::StrAppend(&text, PerCycle(line.bytes_per_cycle));
    page->Words(Printable(text), 2 * kSectionIndent);
  }
  if (sleep.lines.size() > top) {
    page->Line(absl::StrCat(FormatCount(sleep.lines.size() - top), " more lines"), 2 * kSectionIndent);
  }
}

}  // namespace

void WriteSleeps(const TextView& view) {
  const std::vector<ReportProcess>& processes = view.report.processes;
  for (const ReportProcess& process : processes) {
    const std::string of = processes.size() == 1 ? "" : absl::StrCat(", ", ProcessName(process.rank, process.pid));
    for (const ReportSleep& sleep : process.sleeps) WriteSleep(sleep, of, view.options.top, view.page);
  }
}

}  // namespace vramtrack
