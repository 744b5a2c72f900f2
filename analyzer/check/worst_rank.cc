// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/worst_rank.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/check/site_findings.h"

namespace vramtrack {

std::optional<WorstRank> WorstRankOf(const ReportSite& site) {
  if (!site.across || !site.across->rate || site.across->leak < 2) return std::nullopt;
  const ReportAcross::Rate& rate = *site.across->rate;
  const ReportLeak all = RatesOf(site);
  const bool objects = all.rate_bytes_per_step <= 0;
  if (objects != (rate.of == "objects")) return std::nullopt;
  const double together = objects ? all.rate_objects_per_step : all.rate_bytes_per_step;
  // The worst may be one of another device.
  if (rate.most >= together) return std::nullopt;
  return WorstRank{rate.most, together, rate.most_rank, rate.most_pid, site.across->leak};
}

std::optional<WorstRank> WorstRankOf(const Report& report, uint32_t device, double together) {
  WorstRank worst;
  worst.together = together;
  for (const ReportRank& rank : report.ranks) {
    if (std::find(rank.devices.begin(), rank.devices.end(), device) == rank.devices.end()) continue;
    if (worst.ranks++ > 0 && rank.leak_bytes_per_step <= worst.rate) continue;
    worst.rate = rank.leak_bytes_per_step;
    worst.rank = rank.rank;
    worst.pid = rank.pid;
  }
  if (worst.ranks < 2 || worst.rate >= together) return std::nullopt;
  return worst;
}

std::string WorstRankText(const WorstRank& worst, const std::string& together) {
  return absl::StrCat(" in ", worst.rank ? "rank " : "process ", worst.rank ? *worst.rank : worst.pid,
                      ", the worst of ", worst.ranks, " (", together, " together)");
}

}  // namespace vramtrack
