// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/oom_lines.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

// A line, or leaks, that held a smaller share of the memory are not the answer.
constexpr double kAnswerShare = 0.3;
// A step that allocates so many times what the one before did, at a line with most of the difference, is a larger one.
constexpr double kLarger = 1.5, kMost = 0.5;

int64_t Growth(const OomLine& line) { return static_cast<int64_t>(line.now) - static_cast<int64_t>(line.then); }

}  // namespace

OomLines::OomLines(const Report& report) : report_(report), places_(report) {}

std::vector<OomLine> OomLines::Of(const std::vector<ReportOom::Change>& changes) const {
  std::vector<OomLine> lines;
  for (const ReportOom::Change& change : changes) {
    const ReportSite* site = FindSite(report_, change.site);
    if (site == nullptr) continue;
    const ReportSiteIndex leader = site->part_of.is_none() ? change.site : site->part_of;
    const ReportFrame* frame = places_.Of(*FindSite(report_, leader));
    const std::string place = frame == nullptr ? "site " + Printable(site->id) : FramePlace(frame);
    const bool leak = IsLeak(*FindSite(report_, leader));
    auto found = std::find_if(lines.begin(), lines.end(),
                              [&](const OomLine& line) { return line.place == place && line.leak == leak; });
    if (found == lines.end()) {
      found = lines.insert(lines.end(), {leader, place, leak});
    }
    ++found->sites;
    found->then += change.then;
    found->now += change.now;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const OomLine& a, const OomLine& b) { return Growth(a) > Growth(b); });
  return lines;
}

std::vector<OomLine> OomLines::Holders(const ReportOom& oom) const {
  std::vector<ReportOom::Change> held;
  for (const auto& [site, now] : oom.holders) held.push_back({site, 0, now});
  return Of(held);
}

std::optional<ReportOom::Answer> OomLines::AnswerOf(const ReportOom& oom) const {
  const uint64_t all = HeldBytes(oom);
  const std::vector<OomLine> lines = Holders(oom);
  if (all == 0 || lines.empty()) return std::nullopt;
  const auto share = [all](uint64_t bytes) {
    return std::min(1.0, static_cast<double>(bytes) / static_cast<double>(all));
  };
  ReportOom::Answer answer;
  for (const OomLine& line : lines) {
    if (!line.leak) continue;
    if (answer.leak) {
      ++answer.other_leaks;
    } else {
      answer.site = line.site;
      answer.leak = true;
    }
    answer.bytes += line.now;
  }
  if (!answer.leak || share(answer.bytes) < kAnswerShare) answer = {lines[0].site, false, 0, lines[0].now, 0};
  answer.share = share(answer.bytes);
  if (answer.share < kAnswerShare) return std::nullopt;
  return answer;
}

namespace {

// "7.50 of 8.00 GiB"; without a total only the bytes.
std::string PartOf(uint64_t bytes, uint64_t total) {
  std::string part = BytesText(bytes);
  if (total == 0) return part;
  const std::string whole = BytesText(total);
  const size_t unit = part.find(' ');
  if (whole.substr(whole.find(' ')) == part.substr(unit)) part.resize(unit);
  return absl::StrCat(part, " of ", whole);
}

// "file.cu:26 in Function", in all languages.
std::string InSentence(const std::string& place) { return absl::StrReplaceAll(place, {{"  ", " in "}}); }

// The line that allocates more than in the step before, if it alone makes the step larger; otherwise empty.
std::string LargerStep(const Report& report, const ReportOom& oom, const OomLines& lines) {
  if (!oom.step || !oom.compared_step || oom.now <= oom.then || oom.size_change == SizeChange::kSmaller) return "";
  const std::vector<OomLine> changed = lines.Of(oom.changes);
  if (changed.empty() || changed[0].leak || changed[0].then == 0) return "";
  const double ratio = static_cast<double>(changed[0].now) / static_cast<double>(changed[0].then);
  if (ratio < kLarger || static_cast<double>(Growth(changed[0])) < kMost * static_cast<double>(oom.now - oom.then)) {
    return "";
  }
  const char* const why = oom.size_change == SizeChange::kSame ? "" : ": a larger batch";
  const char* const no_leak = *why != '\0' && AnswerOf(report) == Answer::kNoLeak ? ", not a leak" : "";
  return absl::StrCat("step ", *oom.step, " allocates ", FormatAbout(ratio), " times step ", *oom.compared_step, " at ",
                      InSentence(changed[0].place), why, no_leak);
}

// Why a hole is of no use: a pool's segments serve that pool only. Empty where that is not the reason.
std::string OtherPool(const ReportOom& oom) {
  if (!oom.pool || !oom.pool_hole || !oom.segment_bytes || !oom.largest_hole) return "";
  if (*oom.pool_hole >= oom.requested || *oom.largest_hole < oom.requested) return "";
  return absl::StrCat("the ", BytesText(*oom.largest_hole), " hole is in the ",
                      oom.pool == BlockSizeClass::kSmall ? "large" : "small", " pool, and ", BytesText(oom.requested),
                      " needs one in the ", NameOf(*oom.pool), " pool");
}

}  // namespace

OomHeadline HeadlineOf(const Report& report, const ReportOom& oom, const OomLines& lines) {
  const ReportDevice* const device = FindDevice(report, oom.device);
  const uint64_t total = device == nullptr ? 0 : device->total_bytes;
  std::string holder;
  if (oom.answer) {
    const ReportOom::Answer& answer = *oom.answer;
    for (const OomLine& line : lines.Holders(oom)) {
      if (line.site != answer.site || line.leak != answer.leak) continue;
      const std::string others =
          answer.other_leaks == 0 ? "" : absl::StrCat(" and ", Plural(answer.other_leaks, "other leak", "other leaks"));
      holder =
          absl::StrCat(InSentence(line.place), others, answer.leak ? " leaked " : " held ", PartOf(answer.bytes, total),
                       oom.step ? absl::StrCat(answer.leak ? " by step " : " at step ", *oom.step) : "");
      break;
    }
    if (answer.leak && !holder.empty()) return {holder, true};
  }
  if (std::string larger = LargerStep(report, oom, lines); !larger.empty()) return {std::move(larger), true};
  if (std::string pool = OtherPool(oom); !pool.empty()) return {std::move(pool), false};
  if (oom.cause == OomCause::kContiguity) {
    return {absl::StrCat(BytesText(oom.requested), " requested, ", BytesText(oom.free.value_or(0)),
                         " free, but in smaller pieces"),
            false};
  }
  if (DeviceHadRoom(oom)) {
    return {absl::StrCat("the device had ", BytesText(*oom.device_free),
                         " free: possibly a per-process limit or another process"),
            false};
  }
  if (!holder.empty()) return {holder, true};
  return {absl::StrCat(BytesText(oom.requested), " requested",
                       oom.free ? absl::StrCat(", ", BytesText(*oom.free), " free") : ""),
          false};
}

uint64_t HeldBytes(const ReportOom& oom) {
  const auto sum = [](const auto& values) {
    return std::accumulate(values.begin(), values.end(), uint64_t{0},
                           [](uint64_t bytes, const auto& value) { return bytes + value.second; });
  };
  return std::max(sum(oom.categories), sum(oom.holders));
}

bool DeviceHadRoom(const ReportOom& oom) {
  return oom.level == Level::kFramework && oom.device_free &&
         *oom.device_free >= std::max(oom.requested, oom.segment_bytes.value_or(0));
}

void AnswerFailures(Report* report) {
  if (report->oom.empty()) return;
  const OomLines lines(*report);
  for (ReportOom& oom : report->oom) oom.answer = lines.AnswerOf(oom);
}

}  // namespace vramtrack
