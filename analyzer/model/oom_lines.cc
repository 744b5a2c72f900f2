// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/oom_lines.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

// A line, or leaks, that held a smaller share of the memory are not the answer.
constexpr double kAnswerShare = 0.3;

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
