// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limit_kinds.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "analyzer/check/limits.h"
#include "analyzer/check/site_findings.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {
namespace {

// Of all leaks of a device, bytes per `per`; nullopt: they are not known per that.
std::optional<double> LeaksTogether(const Report& report, uint32_t device, RatePer per) {
  double sum = 0;
  for (const ReportSite& site : report.sites) {
    if (!IsLeak(site) || site.device != device || !site.part_of.is_none()) continue;
    const std::optional<double> rate = RateOfAll(site, per);
    if (!rate) return std::nullopt;
    if (WholeOf(site).rate_bytes_per_step > 0) sum += *rate;
  }
  return sum;
}

std::optional<double> LeakTotal(const Report& report, const ReportDevice& device, const Limit& limit) {
  const std::optional<double> sum = LeaksTogether(report, device.index, limit.per);
  const std::optional<WorstRank> worst = WorstLeaksOf(report, device.index);
  if (!sum || !worst) return sum;
  return limit.per == PerOf(report) ? worst->rate : *sum * worst->rate / worst->together;
}

std::optional<double> LeakTotalOfRank(const Report& report, const ReportRank& rank, const Limit& limit) {
  if (limit.per != PerOf(report) && rank.leak_bytes_per_step > 0) return std::nullopt;
  return rank.leak_bytes_per_step;
}

std::optional<double> SizeOf(const ReportDevice& device, uint64_t bytes, const Limit& limit) {
  if (!limit.share) return static_cast<double>(bytes);
  if (device.total_bytes == 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(device.total_bytes);
}

std::optional<double> Peak(const Report&, const ReportDevice& device, const Limit& limit) {
  return SizeOf(device, device.peak.live, limit);
}

std::optional<double> PeakOfRank(const Report&, const ReportRank& rank, const Limit&) {
  return static_cast<double>(rank.peak_live);
}

std::optional<double> Reserved(const Report&, const ReportDevice& device, const Limit& limit) {
  return SizeOf(device, device.peak.reserved, limit);
}

// Without the CUDA context this is too little: it can show that a limit is broken, and not that it is kept.
std::optional<double> DeviceUsed(const Report&, const ReportDevice& device, const Limit& limit) {
  const std::optional<double> used = SizeOf(device, device.peak.device_used, limit);
  return device.asked_free_memory || used.value_or(0) > limit.value ? used : std::nullopt;
}

std::optional<double> Fragmentation(const Report&, const ReportDevice& device, const Limit& limit) {
  const auto reserved = static_cast<double>(device.peak.reserved);
  const double unused = std::max(0.0, reserved - static_cast<double>(device.peak.live));
  return !limit.share ? unused : reserved > 0 ? unused / reserved : 0;
}

double SureGrowth(const ReportGrowth& growth) { return growth.ci_low > 0 ? growth.bytes_per_step : 0; }

std::optional<double> Growth(const Report&, const ReportDevice& device, const Limit& limit) {
  if (!device.growth || limit.per != RatePer::kStep) return std::nullopt;
  return SureGrowth(*device.growth);
}

std::optional<double> GrowthOfRank(const Report&, const ReportRank& rank, const Limit& limit) {
  return limit.per == RatePer::kStep ? rank.growth_bytes_per_step : std::nullopt;
}

// What does not grow is never full.
template <typename Time>
std::optional<double> TimeToOom(const ReportDevice& device, const Limit& limit, Time time) {
  if (!device.growth || limit.per != RatePer::kStep) return std::nullopt;
  if (const auto& known = (*device.growth).*time) return static_cast<double>(*known);
  return device.growth->ci_low <= 0 ? std::optional<double>(INFINITY) : std::nullopt;
}

std::optional<double> StepsToOom(const Report&, const ReportDevice& device, const Limit& limit) {
  return TimeToOom(device, limit, &ReportGrowth::steps_to_oom);
}

std::optional<double> SecondsToOom(const Report&, const ReportDevice& device, const Limit& limit) {
  return TimeToOom(device, limit, &ReportGrowth::seconds_to_oom);
}

// Those on the device at the same time, until their processes end. An idle one adds to those that its
// process has elsewhere.
std::optional<double> Contexts(const Report& report, const ReportDevice& device, const Limit&) {
  std::vector<std::pair<double, double>> changes;  // seconds since 1970, contexts
  double most = 0;
  for (const ReportProcess& process : report.processes) {
    bool idle = false;
    double of_process = 0;
    for (const ReportContext& context : process.contexts) {
      const auto count = static_cast<double>(std::max<uint64_t>(context.live, 1));
      of_process += count;
      if (context.device != device.index) continue;
      idle |= context.idle;
      changes.emplace_back(process.newest_event_s - process.duration_s + context.seconds, count);
      changes.emplace_back(process.newest_event_s, -count);
    }
    if (idle) most = std::max(most, of_process);
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
  double now = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

// The stack of one whose process works elsewhere, or else of any.
const std::vector<ReportFrame>* StackOfExtraContext(const Report& report, const ReportDevice& device) {
  const ReportContext* extra = nullptr;
  for (const ReportProcess& process : report.processes) {
    for (const ReportContext& context : process.contexts) {
      if (context.device == device.index && (extra == nullptr || !extra->idle)) extra = &context;
    }
  }
  return extra == nullptr ? nullptr : &extra->frames;
}

}  // namespace

const std::vector<LimitKind> kLimitKinds = {
    {"leak", "leak", LimitUnit::kBytesPerStep, &Limits::leak, "RATE",
     "one leak, such as 64KiB/step or 0; minor leaks count too", nullptr, nullptr, "", ""},
    {"leak_objects", "leak", LimitUnit::kObjectsPerStep, &Limits::leak_objects, "N",
     "one leak without bytes (streams, events), per step", nullptr, nullptr, "", ""},
    {"leak_total", "leak-total", LimitUnit::kBytesPerStep, &Limits::leak_total, "RATE",
     "all leaks of a device together", LeakTotal, LeakTotalOfRank, "its sites leak $0", ""},
    {"peak", "peak", LimitUnit::kBytesOrShare, &Limits::peak, "SIZE",
     "live bytes of a device at the peak, such as 70GiB, or 75% of the device", Peak, PeakOfRank, "$0 live at the peak",
     "$0 of the device is live at the peak"},
    {"reserved", "reserved", LimitUnit::kBytesOrShare, &Limits::reserved, "SIZE",
     "bytes reserved from the device at the peak, or a percentage", Reserved, nullptr, "$0 reserved at the peak",
     "$0 of the device is reserved at the peak"},
    {"device_used", "device-used", LimitUnit::kBytesOrShare, &Limits::device_used, "SIZE",
     "bytes used on the device at the peak, or a percentage", DeviceUsed, nullptr, "$0 used on the device at the peak",
     "$0 of the device is used at the peak"},
    {"growth", "growth", LimitUnit::kBytesPerStep, &Limits::growth, "RATE", "growth of the live bytes of a device",
     Growth, GrowthOfRank, "live memory grows by $0", ""},
    {"fragmentation", "fragmentation", LimitUnit::kBytesOrShare, &Limits::fragmentation, "X",
     "reserved bytes that are not live at the peak, such as 2GiB or 10%", Fragmentation, nullptr,
     "$0 reserved and not live at the peak", "$0 of what is reserved at the peak is not live"},
    {"steps_to_oom", "time-to-oom", LimitUnit::kSteps, &Limits::steps_to_oom, "N", "steps until a device is full",
     StepsToOom, nullptr, "full in $0", ""},
    {"seconds_to_oom", "time-to-oom", LimitUnit::kSeconds, &Limits::seconds_to_oom, "TIME",
     "time until a device is full, such as 30min or 2h", SecondsToOom, nullptr, "full in $0", ""},
    {"contexts", "contexts", LimitUnit::kContexts, &Limits::contexts, "N",
     "CUDA contexts on a device at the same time, or of a process that works elsewhere", Contexts, nullptr,
     "$0 at the same time, there or in one process", "", StackOfExtraContext},
};

RatePer PerOf(const Report& report) { return report.steps.unit == StepUnit::kStep ? RatePer::kStep : RatePer::kGiB; }

CheckUnit UnitOf(LimitUnit unit, bool share, RatePer per) {
  // By LimitUnit; of a rate the one per step, which those per GiB and per second follow.
  constexpr CheckUnit kUnits[] = {CheckUnit::kBytes,   CheckUnit::kBytesPerStep, CheckUnit::kObjectsPerStep,
                                  CheckUnit::kBytes,   CheckUnit::kSteps,        CheckUnit::kSeconds,
                                  CheckUnit::kContexts};
  if (share) return CheckUnit::kShare;
  const CheckUnit of_step = kUnits[static_cast<size_t>(unit)];
  const bool is_rate = unit == LimitUnit::kBytesPerStep || unit == LimitUnit::kObjectsPerStep;
  return is_rate ? static_cast<CheckUnit>(static_cast<int>(of_step) + static_cast<int>(per)) : of_step;
}

bool IsByteRate(CheckUnit unit) {
  return unit == CheckUnit::kBytesPerStep || unit == CheckUnit::kBytesPerGiB || unit == CheckUnit::kBytesPerSecond;
}

std::optional<WorstRank> WorstLeaksOf(const Report& report, uint32_t device) {
  const std::optional<double> together = LeaksTogether(report, device, PerOf(report));
  return together ? WorstRankOf(report, device, *together) : std::nullopt;
}

std::string BudgetText(const Limit& limit, LimitUnit unit) {
  return absl::StrCat("; the budget is ", FormatLimit(limit, unit), " (", limit.place, ")");
}

std::string MeasuredMessage(const LimitKind& kind, double value, const Limit& limit, const WorstRank* worst) {
  std::string is = FormatValue(value, kind.unit, limit.share, limit.per);
  if (worst != nullptr) {
    const double together = value / worst->rate * worst->together;
    absl::StrAppend(&is, WorstRankText(*worst, FormatValue(together, kind.unit, /*share=*/false, limit.per)));
  }
  return absl::Substitute(limit.share ? kind.share_message : kind.message, is) + BudgetText(limit, kind.unit);
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
        only.growth_bytes_per_step = only.growth_bytes_per_step.value_or(0) + SureGrowth(*device.growth);
      }
    }
    for (const ReportSite& site : report.sites) {
      if (IsLeak(site) && site.device) only.leak_bytes_per_step += site.rate_bytes_per_step;
    }
  }
  return ranks;
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
  const ReportLeak all = WholeOf(site);
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
