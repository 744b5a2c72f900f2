// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/oom_words.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

std::string FrameworkOn(const Report& report, uint32_t device) {
  for (const ReportProcess& process : report.processes) {
    for (const ReportAllocator& allocator : process.allocators) {
      if (allocator.device == device) return Printable(allocator.framework);
    }
  }
  return "PyTorch";
}

// The state of the allocator that gave up.
std::string Framework(const Report& report, const ReportOom& oom) {
  if (oom.level != Level::kFramework || !oom.live || !oom.reserved) return "";
  return absl::StrCat(FrameworkOn(report, oom.device), ": ", BytesText(*oom.live), " of ", BytesText(*oom.reserved),
                      " reserved in use.");
}

// What was needed, what that takes from the driver, and what was free for it.
std::string Request(const Report& report, const ReportOom& oom) {
  std::string text = BytesText(oom.requested);
  const std::string at = oom.step ? absl::StrCat(" at step ", *oom.step) : "";
  if (oom.level == Level::kFramework) {
    const std::string framework = FrameworkOn(report, oom.device);
    absl::StrAppend(&text, " for a tensor");
    if (oom.segment_bytes) absl::StrAppend(&text, ", ", BytesText(*oom.segment_bytes), " asked of the driver");
    if (oom.device_free) {
      absl::StrAppend(&text, "; device ", oom.device, " had ", BytesText(*oom.device_free), " free");
      const std::optional<uint64_t> hole = oom.pool_hole ? oom.pool_hole : oom.largest_hole;
      if (hole) absl::StrAppend(&text, ", and ", framework, " no hole larger than ", BytesText(*hole));
    }
    return text + at;
  }
  absl::StrAppend(&text, " requested");
  if (oom.free) {
    const uint64_t whole = std::min(oom.largest_free.value_or(*oom.free), *oom.free);
    absl::StrAppend(&text, "; device ", oom.device, " had ", BytesText(whole), " free");
    if (*oom.free > whole) absl::StrAppend(&text, ", and ", BytesText(*oom.free - whole), " in holes of used pages");
  } else {
    absl::StrAppend(&text, " on device ", oom.device);
  }
  return text + at;
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

std::string Setting(const ReportOom& oom) {
  if (oom.would_fit.empty() || (oom.answer && oom.answer->leak)) return "";
  const auto& [setting, bytes] = oom.would_fit.front();
  return absl::StrCat("It would have fit with ", setting,
                      " (largest request that would have succeeded: ", BytesText(bytes), ").");
}

}  // namespace

OomWords WordsOf(const Report& report, const ReportOom& oom, const OomLines& lines) {
  OomWords words{HeadlineOf(report, oom, lines),
                 Request(report, oom),
                 Framework(report, oom),
                 Setting(oom),
                 Difference(oom),
                 lines.Holders(oom),
                 lines.Of(oom.changes)};
  words.grown.erase(
      std::remove_if(words.grown.begin(), words.grown.end(), [](const OomLine& line) { return line.now <= line.then; }),
      words.grown.end());
  return words;
}

}  // namespace vramtrack
