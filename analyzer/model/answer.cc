// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/answer.h"

#include <algorithm>

namespace vramtrack {

uint64_t SitesWith(const Report& report, Verdict verdict) {
  for (const auto& [name, sites] : report.verdict_counts) {
    if (name == NameOf(verdict)) return sites;
  }
  return 0;
}

uint64_t AllSites(const Report& report) {
  uint64_t all = 0;
  for (const auto& [name, sites] : report.verdict_counts) all += sites;
  return all;
}

bool LeaksAreOutweighed(const Report& report) {
  // So many times the largest leak's rate.
  constexpr double kOutweighs = 200;
  double leak = 0, unjudged = 0;
  for (const ReportSite& site : report.sites) {
    if (site.verdict == Verdict::kInsufficientEvidence) unjudged = std::max(unjudged, site.rate_bytes_per_step);
    if (!IsLeak(site)) continue;
    if (site.verdict != Verdict::kMinorLeak) return false;
    leak = std::max(leak, site.group ? site.group->rate_bytes_per_step : site.rate_bytes_per_step);
  }
  return !report.ranking.empty() && unjudged > 0 && unjudged >= kOutweighs * leak;
}

Gap GapIn(const Report& report) {
  if (report.steps.count == 0) return Gap::kNoSteps;
  if (!report.unsure.empty()) return Gap::kUnsure;
  return SitesWith(report, Verdict::kInsufficientEvidence) > 0 ? Gap::kUnjudgedSites : Gap::kNone;
}

Answer AnswerOf(const Report& report) {
  if (!report.ranking.empty()) return LeaksAreOutweighed(report) ? Answer::kNotEnough : Answer::kLeak;
  return GapIn(report) == Gap::kNone ? Answer::kNoLeak : Answer::kNotEnough;
}

std::optional<uint64_t> FurtherStepsNeeded(const Report& report) { return report.further_steps_needed; }

std::optional<uint64_t> StepsToRun(const Report& report) {
  // With this many, warm-up and rare leaks leave enough to judge in most jobs.
  constexpr uint64_t kLeast = 60;
  if (!report.further_steps_needed) return std::nullopt;
  // The estimate is from few steps: half as many again, in round numbers.
  const uint64_t estimate = (report.steps.count + *report.further_steps_needed) * 3 / 2;
  const uint64_t round = estimate < 1000 ? 10 : estimate < 10000 ? 100 : 1000;
  return std::max(kLeast, (estimate + round - 1) / round * round);
}

bool HasRunOut(const Report& report, uint32_t device) {
  return std::any_of(report.oom.begin(), report.oom.end(), [&](const ReportOom& oom) { return oom.device == device; });
}

const ReportSite* FindSite(const Report& report, const std::string& id) {
  for (const ReportSite& site : report.sites) {
    if (site.id == id) return &site;
  }
  return nullptr;
}

}  // namespace vramtrack
