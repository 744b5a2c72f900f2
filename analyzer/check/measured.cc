// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/measured.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "analyzer/check/limits.h"
#include "analyzer/check/site_findings.h"

namespace vramtrack {
namespace {

// Of all sites of one device; none: they are not known per that.
std::optional<double> LeakTotal(const Report& report, uint32_t device, RatePer per) {
  double sum = 0;
  for (const ReportSite& site : report.sites) {
    if (!IsLeak(site) || site.device != device || !site.part_of.empty()) continue;
    const std::optional<double> rate = RateOfAll(site, per);
    if (!rate) return std::nullopt;
    if (RatesOf(site).rate_bytes_per_step > 0) sum += *rate;
  }
  const std::optional<WorstRank> worst = WorstLeaksOf(report, device);
  if (!worst) return sum;
  return per == PerOf(report) ? worst->rate : sum * worst->rate / worst->together;
}

}  // namespace

RatePer PerOf(const Report& report) { return report.steps.unit == StepUnit::kStep ? RatePer::kStep : RatePer::kGiB; }

CheckUnit UnitOf(LimitUnit unit, bool share, RatePer per) {
  if (share) return CheckUnit::kShare;
  const auto rate = [per](CheckUnit step, CheckUnit gib, CheckUnit second) {
    return per == RatePer::kStep ? step : per == RatePer::kGiB ? gib : second;
  };
  switch (unit) {
    case LimitUnit::kBytesPerStep:
      return rate(CheckUnit::kBytesPerStep, CheckUnit::kBytesPerGiB, CheckUnit::kBytesPerSecond);
    case LimitUnit::kObjectsPerStep:
      return rate(CheckUnit::kObjectsPerStep, CheckUnit::kObjectsPerGiB, CheckUnit::kObjectsPerSecond);
    case LimitUnit::kSteps:
      return CheckUnit::kSteps;
    case LimitUnit::kSeconds:
      return CheckUnit::kSeconds;
    default:
      return CheckUnit::kBytes;
  }
}

bool IsByteRate(CheckUnit unit) {
  return unit == CheckUnit::kBytesPerStep || unit == CheckUnit::kBytesPerGiB || unit == CheckUnit::kBytesPerSecond;
}

std::optional<WorstRank> WorstLeaksOf(const Report& report, uint32_t device) {
  double together = 0;
  for (const ReportSite& site : report.sites) {
    if (!IsLeak(site) || site.device != device || !site.part_of.empty()) continue;
    if (PerOf(site) != PerOf(report)) return std::nullopt;
    together += std::max(RatesOf(site).rate_bytes_per_step, 0.0);
  }
  return WorstRankOf(report, device, together);
}

Measured MeasureDevice(const Report& report, const ReportDevice& device, const Limit& limit) {
  Measured measured;
  const auto reserved = static_cast<double>(device.peak.reserved);
  const double unused = std::max(0.0, reserved - static_cast<double>(device.peak.live));
  measured["leak_total"] = LeakTotal(report, device.index, limit.per);
  const auto size = [&](double bytes) -> std::optional<double> {
    if (!limit.share) return bytes;
    if (device.total_bytes == 0) return std::nullopt;
    return bytes / static_cast<double>(device.total_bytes);
  };
  measured["peak"] = size(static_cast<double>(device.peak.live));
  measured["reserved"] = size(reserved);
  // Without the CUDA context this is too little: it can show that a limit is broken, and not that it is kept.
  measured["device_used"] = size(static_cast<double>(device.peak.device_used));
  if (!device.asked_free_memory && measured["device_used"].value_or(0) <= limit.value)
    measured["device_used"] = std::nullopt;
  measured["fragmentation"] = !limit.share ? unused : reserved > 0 ? unused / reserved : 0;
  measured["growth"] = std::nullopt;
  measured["steps_to_oom"] = measured["seconds_to_oom"] = std::nullopt;
  if (device.growth && limit.per == RatePer::kStep) {
    measured["growth"] = device.growth->ci_low > 0 ? device.growth->bytes_per_step : 0;
    // What does not grow is never full.
    if (device.growth->ci_low <= 0) measured["steps_to_oom"] = measured["seconds_to_oom"] = INFINITY;
    if (device.growth->steps_to_oom) measured["steps_to_oom"] = *device.growth->steps_to_oom;
    if (device.growth->seconds_to_oom) measured["seconds_to_oom"] = *device.growth->seconds_to_oom;
  }
  return measured;
}

std::string MeasuredMessage(const LimitKind& kind, double value, const Limit& limit, const WorstRank* worst) {
  const std::string is = FormatValue(value, kind.unit, limit.share, limit.per);
  const std::string budget = absl::StrCat("; the budget is ", FormatLimit(limit, kind.unit), " (", limit.place, ")");
  const std::string of = limit.share ? is + " of the device is" : is;
  if (kind.limit == &Limits::leak_total && worst != nullptr) {
    const std::string together =
        FormatValue(value / worst->rate * worst->together, kind.unit, /*share=*/false, limit.per);
    return absl::StrCat("its sites leak ", is, WorstRankText(*worst, together), budget);
  }
  if (kind.limit == &Limits::leak_total) return absl::StrCat("its sites leak ", is, budget);
  if (kind.limit == &Limits::peak) return absl::StrCat(of, " live at the peak", budget);
  if (kind.limit == &Limits::reserved) return absl::StrCat(of, " reserved at the peak", budget);
  if (kind.limit == &Limits::device_used) {
    return absl::StrCat(is, limit.share ? " of the device is used at the peak" : " used on the device at the peak",
                        budget);
  }
  if (kind.limit == &Limits::growth) return absl::StrCat("live memory grows by ", is, budget);
  if (IsLeast(kind.unit)) return absl::StrCat("full in ", is, budget);
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

Measured MeasureRank(const Report& report, const ReportRank& rank, const Limit& limit) {
  Measured measured;
  measured["peak"] = static_cast<double>(rank.peak_live);
  const bool knows = limit.per == PerOf(report) || rank.leak_bytes_per_step <= 0;
  measured["leak_total"] = knows ? std::optional<double>(rank.leak_bytes_per_step) : std::nullopt;
  measured["growth"] = limit.per == RatePer::kStep ? rank.growth_bytes_per_step : std::nullopt;
  return measured;
}

std::string WhyUnknown(const Report& report, const LimitKind& kind, const Limit& limit) {
  if (kind.limit == &Limits::device_used) {
    return "it is known only if the job asks the driver for its free memory, as torch.cuda.mem_get_info() does";
  }
  if (kind.limit == &Limits::leak_total) return WhyNoRate(limit.per, PerOf(report));
  if (limit.share) return "the size of the device is not known";
  if (PerOf(report) != RatePer::kStep) return "the trace has no steps, and the limit for growth is per step";
  if (limit.per != RatePer::kStep) return "growth is measured per step";
  if (kind.unit == LimitUnit::kSeconds) return "growth could not be extrapolated, or steps have no duration";
  return "growth could not be estimated";
}

std::optional<WorstRank> WorstRankOf(const ReportSite& site) {
  if (!site.across || !site.across->rate || site.across->leak < 2) return std::nullopt;
  const ReportAcross::Rate& rate = *site.across->rate;
  const ReportLeak all = RatesOf(site);
  const bool objects = all.rate_bytes_per_step <= 0;
  if (objects != (rate.of == RateOf::kObjects)) return std::nullopt;
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
