// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/oom_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

// The state of the allocator that gave up.
std::string Framework(const Report& report, const ReportOom& oom) {
  if (oom.level != Level::kFramework || !oom.live || !oom.reserved || !oom.largest_hole) return "";
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
  if (!oom.compared_step) return "";
  std::string text;
  if (oom.now > oom.then) {
    text = absl::StrCat("That is ", BytesText(oom.now - oom.then), " more than in step ", *oom.compared_step,
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

std::string Cause(const ReportOom& oom) {
  if (oom.cause == OomCause::kAmount) return "Not enough memory was left.";
  if (oom.cause == OomCause::kContiguity) return "Enough memory was free, but fragmented: no piece was large enough.";
  if (DeviceHadRoom(oom)) {
    return "The device had room, so the cause is unclear: a limit of the process (such as PyTorch's "
           "set_per_process_memory_fraction), or memory of other processes.";
  }
  return "Cause unclear: exhausted or fragmented.";
}

std::string Request(const ReportOom& oom) {
  std::string text = BytesText(oom.requested) + " requested";
  if (oom.free) absl::StrAppend(&text, ", ", BytesText(*oom.free), " free");
  if (oom.largest_free) {
    absl::StrAppend(&text, " (largest piece ", BytesText(*oom.largest_free), ")");
  }
  absl::StrAppend(&text, " on device ", oom.device);
  if (oom.step) absl::StrAppend(&text, " at step ", *oom.step);
  return text;
}

std::string Setting(const ReportOom& oom) {
  if (oom.would_fit.empty() || (oom.answer && oom.answer->leak)) return "";
  const auto& [setting, bytes] = oom.would_fit.front();
  return absl::StrCat("It would have fit with ", setting,
                      " (largest request that would have succeeded: ", BytesText(bytes), ").");
}

}  // namespace

OomWords WordsOf(const Report& report, const ReportOom& oom, const OomLines& lines) {
  OomWords words{Request(oom),    Cause(oom),         OtherPool(oom),       "", Framework(report, oom), Setting(oom),
                 Difference(oom), lines.Holders(oom), lines.Of(oom.changes)};
  words.answer = AnswerText(oom, words.holders);
  words.grown.erase(
      std::remove_if(words.grown.begin(), words.grown.end(), [](const OomLine& line) { return line.now <= line.then; }),
      words.grown.end());
  return words;
}

std::string WhoHeld(const OomWords& words) {
  if (!words.answer.empty()) return words.answer;
  if (words.holders.empty()) return "What held the memory is unknown.";
  return absl::StrCat("No line held more than ", BytesText(words.holders[0].now), ".");
}

}  // namespace vramtrack
