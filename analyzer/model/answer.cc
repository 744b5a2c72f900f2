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

Answer AnswerOf(const Report& report) {
  if (!report.ranking.empty()) return LeaksAreOutweighed(report) ? Answer::kNotEnough : Answer::kLeak;
  return report.reasons.empty() ? Answer::kNoLeak : Answer::kNotEnough;
}

bool HasRunOut(const Report& report, uint32_t device) {
  return std::any_of(report.oom.begin(), report.oom.end(), [&](const ReportOom& oom) { return oom.device == device; });
}

const ReportDevice* FindDevice(const Report& report, std::optional<uint32_t> index) {
  const auto found = std::find_if(report.devices.begin(), report.devices.end(),
                                  [index](const ReportDevice& device) { return device.index == index; });
  return found == report.devices.end() ? nullptr : &*found;
}

const ReportSite* FindSite(const Report& report, ReportSiteIndex site) {
  return site.is_none() ? nullptr : &report.sites.at(site.value());
}

}  // namespace vramtrack
