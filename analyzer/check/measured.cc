// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/measured.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "analyzer/check/limit_text.h"

namespace vramtrack {

const char* UnitName(LimitUnit unit, bool share) {
  if (share) return "share";
  switch (unit) {
    case LimitUnit::kBytesPerStep:
      return "bytes_per_step";
    case LimitUnit::kObjectsPerStep:
      return "objects_per_step";
    case LimitUnit::kSteps:
      return "steps";
    default:
      return "bytes";
  }
}

Measured MeasureDevice(const Report& report, const ReportDevice& device, bool fragmentation_as_share) {
  Measured measured;
  double leaks = 0;
  for (const ReportSite& site : report.sites) {
    if (IsLeak(site) && site.device == device.index) leaks += site.rate_bytes_per_step;
  }
  const auto reserved = static_cast<double>(device.peak.reserved);
  const double unused = std::max(0.0, reserved - static_cast<double>(device.peak.live));
  measured["leak_total"] = leaks;
  measured["peak"] = static_cast<double>(device.peak.live);
  measured["reserved"] = reserved;
  measured["device_used"] = static_cast<double>(device.peak.device_used);
  measured["fragmentation"] = !fragmentation_as_share ? unused : reserved > 0 ? unused / reserved : 0;
  measured["growth"] = std::nullopt;
  measured["steps_to_oom"] = std::nullopt;
  if (device.growth) {
    measured["growth"] = device.growth->ci_low > 0 ? device.growth->bytes_per_step : 0;
    // What does not grow is never full.
    if (device.growth->ci_low <= 0) measured["steps_to_oom"] = INFINITY;
    if (device.growth->steps_to_oom) measured["steps_to_oom"] = *device.growth->steps_to_oom;
  }
  return measured;
}

std::string MeasuredMessage(const LimitKind& kind, double value, const Limit& limit) {
  const std::string is = FormatValue(value, kind.unit, limit.share);
  const std::string budget = absl::StrCat("; the budget is ", FormatLimit(limit, kind.unit), " (", limit.place, ")");
  const std::string rule = kind.rule;
  if (rule == "leak-total") return absl::StrCat("its sites leak ", is, budget);
  if (rule == "peak") return absl::StrCat(is, " live at the peak", budget);
  if (rule == "reserved") return absl::StrCat(is, " reserved at the peak", budget);
  if (rule == "device-used") return absl::StrCat(is, " used on the device at the peak", budget);
  if (rule == "growth") return absl::StrCat("live memory grows by ", is, budget);
  if (rule == "time-to-oom") return absl::StrCat("full in ", is, budget);
  if (limit.share) return absl::StrCat(is, " of what is reserved at the peak is not live", budget);
  return absl::StrCat(is, " reserved and not live at the peak", budget);
}

std::vector<ReportRank> RanksOf(const Report& report) {
  std::vector<ReportRank> ranks = report.ranks;
  if (ranks.empty() && report.processes.size() == 1 && report.processes[0].rank) {
    // The only one: what the devices say.
    ReportRank& only = ranks.emplace_back();
    only.rank = report.processes[0].rank;
    for (const ReportDevice& device : report.devices) {
      only.peak_live += device.peak.live;
      if (device.growth) {
        only.growth_bytes_per_step =
            only.growth_bytes_per_step.value_or(0) + (device.growth->ci_low > 0 ? device.growth->bytes_per_step : 0);
      }
    }
    for (const ReportSite& site : report.sites) {
      if (IsLeak(site) && site.device) only.leak_bytes_per_step += site.rate_bytes_per_step;
    }
  }
  return ranks;
}

Measured MeasureRank(const ReportRank& rank) {
  return {{"leak_total", rank.leak_bytes_per_step},
          {"peak", static_cast<double>(rank.peak_live)},
          {"growth", rank.growth_bytes_per_step}};
}

}  // namespace vramtrack
