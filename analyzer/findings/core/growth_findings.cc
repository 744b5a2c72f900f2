// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/growth_findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/leaks/explanation.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/rate.h"

namespace vramtrack {
namespace {

// A leak that makes up this much of the growth decides where its judgement begins.
constexpr double kMainShare = 0.1;
// Sites that leak must explain this much of the growth, or it is not foretold.
constexpr double kLeakShare = 0.5;
// Of the growth of a device, what no site explains counts from this share on.
constexpr double kUnexplainedShare = 0.5;
// By this share of it, what steady sites hold may be more at the end than it was before.
constexpr double kSteadyShare = 0.05;
// As many times something must have been added, or it may be a matter of chance; as many survivors a leak needs.
constexpr size_t kMinRises = 5;
// A step that takes this many times the median is a machine that slept, or a clock that jumped.
constexpr double kOddDuration = 100;

// Where the growth of a device comes from, in bytes that were allocated in the judged steps and are there at their end.
struct Sources {
  double leaking = 0;
  double managed = 0;                            // of `leaking`, managed memory
  double leak_rate_low = 0, leak_rate_high = 0;  // bytes per step
  bool accelerates = false;
  std::map<Verdict, double> other;
};

// The first step to judge: after warm-up, and after the last of the leaks that matter has begun.
Step FirstStep(const ProcessAnalysis& analysis, DeviceIndex device) {
  const Sites& sites = analysis.ledger().sites();
  const SiteVerdicts& verdicts = analysis.verdicts();
  double total = 0;
  for (const bool sum : {true, false}) {
    Step first = analysis.run().warmup_end;
    for (const SiteIndex i : sites.indices()) {
      if (!IsLeak(verdicts[i].verdict) || !CountsForGrowth(analysis.ledger(), sites[i], device)) continue;
      if (sum) total += verdicts[i].rate_bytes_per_step;
      if (verdicts[i].onset_step && verdicts[i].rate_bytes_per_step >= kMainShare * total) {
        first = std::max(first, *verdicts[i].onset_step);
      }
    }
    if (!sum) return first;
  }
  return 0;
}

Sources FindSources(const ProcessAnalysis& analysis, DeviceIndex device, Step first) {
  const Ledger& ledger = analysis.ledger();
  Sources sources;
  for (const SiteIndex i : ledger.sites().indices()) {
    if (!CountsForGrowth(ledger, ledger.sites()[i], device)) continue;
    const LeakVerdict& verdict = analysis.verdicts()[i];
    double kept = 0, latest = 0;
    for (const Cohort& cohort : analysis.histories().history(i).cohorts) {
      if (cohort.step < first) continue;
      kept += static_cast<double>(cohort.live_bytes);
      if (cohort.step >= verdict.evidence.tested.end) latest += static_cast<double>(cohort.live_bytes);
    }
    // What a site allocated after the steps that were judged was not found to be there once and for all.
    if (verdict.verdict == Verdict::kOneTime) {
      sources.other[Verdict::kSteady] += latest;
      kept -= latest;
    }
    if (!IsLeak(verdict.verdict)) {
      sources.other[verdict.verdict] += kept;
      continue;
    }
    // What replaces its objects by larger ones has a cohort of the last of them only.
    if (verdict.evidence.buffer.trend != BufferTrend::kNone) {
      kept = verdict.rate_bytes_per_step * (analysis.run().steps - std::min(first, analysis.run().steps));
    }
    sources.leaking += kept;
    if (ledger.sites()[i].key.kind == schema::MANAGED) sources.managed += kept;
    sources.leak_rate_low += verdict.rate_ci_low;
    sources.leak_rate_high += verdict.rate_ci_high;
    sources.accelerates |= verdict.verdict == Verdict::kAcceleratingLeak;
  }
  return sources;
}

const char* WhyNot(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPhaseAccumulation:
      return "memory is freed when a phase of the job ends";
    case Verdict::kCycleGarbage:
      return "it is freed in bursts, as by a garbage collector";
    case Verdict::kSublinear:
      return "growth slows down";
    case Verdict::kOneTime:
      return "it was allocated once";
    case Verdict::kInsufficientEvidence:
      return "its allocation sites cannot be judged yet";
    case Verdict::kFragmentationGrowth:
      return "live bytes do not grow";
    default:
      return "memory varies but nothing accumulates";
  }
}

// What is left of `grown` bytes when all sites that keep something for a known reason have taken their part. What a
// steady site holds is what it made last, and no reason for growth but by some of it: a full cache has blocks of
// changing sizes.
double Unexplained(const Sources& sources, double grown) {
  double known = sources.leaking;
  for (const auto& [verdict, kept] : sources.other) known += (verdict == Verdict::kSteady ? kSteadyShare : 1) * kept;
  return std::max(0.0, grown - known);
}

// Empty if sites that leak explain enough of `grown` bytes.
std::string RefusedFor(const Sources& sources, double grown) {
  if (sources.accelerates)
    return "accelerating_leak: it grows faster and faster, so the device is full sooner than the rate suggests";
  // CUDA C++ Programming Guide, "GPU Memory Oversubscription".
  if (sources.managed >= kLeakShare * grown) return "most of it is managed memory, which CUDA moves to the host";
  if (sources.leaking >= kLeakShare * grown) return "";
  const auto most = std::max_element(sources.other.begin(), sources.other.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const Verdict verdict = most == sources.other.end() ? Verdict::kSteady : most->first;
  return absl::StrCat(NameOf(verdict), ": ", WhyNot(verdict));
}

// How one figure of a device grows.
struct Grown {
  ReportGrowth report;
  size_t rises = 0;
  bool stopped = false;          // as in FittedGrowth
  double points = 0, steps = 0;  // that were judged

  bool surely() const { return report.ci_low > 0; }
};

// `limit_bytes`: where the figure cannot go on; 0: unknown.
Grown Fit(const LevelSeries& series, Step first, double limit_bytes, const std::optional<double>& seconds_per_step) {
  Grown grown;
  const auto begin = static_cast<size_t>(std::ceil(first / series.steps_per_point));
  const std::optional<FittedGrowth> growth = FitGrowth(series, begin);
  if (!growth) {
    const double missing = kMinGrowthSteps - (static_cast<double>(series.low.size()) - static_cast<double>(begin));
    grown.report.refused =
        absl::StrCat("too few steps: ", std::ceil(missing * series.steps_per_point), " more are needed");
    return grown;
  }
  grown.report.bytes_per_step = growth->bytes_per_step;
  grown.report.ci_low = growth->ci_low;
  grown.report.ci_high = growth->ci_high;
  grown.rises = growth->rises;
  grown.stopped = growth->stopped;
  grown.points = static_cast<double>(series.low.size() - begin);
  grown.steps = grown.points * series.steps_per_point;
  if (!grown.surely()) return grown;
  if (limit_bytes <= 0) {
    grown.report.refused = "the size of the device is unknown";
    return grown;
  }
  if (const std::optional<StepsToOom> left = PredictStepsToOom(*growth, series, begin, limit_bytes)) {
    grown.report.steps_to_oom = left->steps;
    grown.report.steps_to_oom_low = left->low;
    grown.report.steps_to_oom_high = left->high;
    if (seconds_per_step) grown.report.seconds_to_oom = left->steps * *seconds_per_step;
  }
  return grown;
}

void Refuse(const std::string& why, ReportGrowth* growth) {
  growth->steps_to_oom.reset();
  growth->seconds_to_oom.reset();
  growth->steps_to_oom_low = growth->steps_to_oom_high = 0;
  growth->refused = why;
}

// Segments, or pages of the driver.
std::string Stairs(size_t rises, const char* why) {
  return absl::StrCat("it rose in ", rises, rises == 1 ? " stair" : " stairs", why);
}

}  // namespace

std::optional<double> SecondsPerStep(const ProcessAnalysis& analysis) {
  const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
  if (ends.size() < 2) return std::nullopt;
  std::vector<double> durations;
  for (size_t i = std::max<size_t>(1, ends.size() / 2); i < ends.size(); ++i) {
    durations.push_back(ends[i] > ends[i - 1] ? static_cast<double>(ends[i] - ends[i - 1]) : 0);
  }
  std::vector<double> sorted = durations;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  double sum = 0;
  for (const double duration : durations) sum += duration > kOddDuration * median ? median : duration;
  const double ticks = sum / static_cast<double>(durations.size());
  if (ticks <= 0) return std::nullopt;
  return ticks / analysis.trace().clock().ticks_per_second();
}

double BytesForLive(const Scope& scope, uint64_t total) {
  const Moment& peak = scope.peak_moment;
  const auto beside =
      static_cast<double>(scope.segments != nullptr ? peak.framework.overhead + peak.framework.unattributed
                                                    : peak.usage.rounding + (peak.device_used - peak.usage.reserved));
  return static_cast<double>(total) - beside;
}

void DescribeGrowth(const ProcessAnalysis& analysis, ReportDevice* device) {
  const Ledger& ledger = analysis.ledger();
  const Scope* scope = LeadingScope(ledger, DeviceIndex(device->index));
  const Step steps = analysis.run().steps, warmup_end = analysis.run().warmup_end;
  if (scope == nullptr || steps < warmup_end || steps - warmup_end < kMinGrowthSteps) return;
  const Step first = FirstStep(analysis, DeviceIndex(device->index));
  const std::optional<double> seconds = SecondsPerStep(analysis);

  const Moment& peak = scope->peak_moment;
  const auto total = static_cast<double>(device->total_bytes);
  Grown live = Fit(SeriesOf(scope->floors, scope->ceilings), first,
                   total == 0 ? 0 : std::max(1.0, BytesForLive(*scope, device->total_bytes)), seconds);
  const double outside =
      std::max(0.0, static_cast<double>(peak.device_used) - static_cast<double>(peak.usage.reserved));
  Grown reserved = Fit(LevelsOf(analysis, *scope, DeviceFigure::kReserved), first,
                       total == 0 ? 0 : std::max(1.0, total - outside), seconds);
  // What the framework has reserved for the blocks is not known.
  if (scope->by_handle) reserved = {};
  Grown used = Fit(LevelsOf(analysis, *scope, DeviceFigure::kUsed), first, total, seconds);

  std::string live_refused;
  if (live.surely()) {
    const double grown = live.report.bytes_per_step * live.steps;
    const Sources sources = FindSources(analysis, DeviceIndex(device->index), first);
    live_refused = RefusedFor(sources, grown);
    if (scope->by_handle && live_refused.empty()) {
      live_refused = "the framework takes memory in advance, and how much it may take is not known";
    }
    const double unexplained = Unexplained(sources, grown) / live.steps;
    RunShape run = analysis.run();
    run.device_total_bytes = device->total_bytes;
    if (!live.stopped && unexplained > kUnexplainedShare * live.report.bytes_per_step &&
        IsMaterial({unexplained, 0, {}, {}}, run)) {
      device->unexplained_growth = unexplained;
      if (!live_refused.empty()) live_refused = "no allocation site explains it";
    }
    if (live_refused.empty() && sources.leaking < (1 - kMainShare) * grown) {
      // Part of it will not go on: how much is between what leaks and all.
      live.report.ci_low = std::min(live.report.ci_low, sources.leak_rate_low);
    }
    if (!live_refused.empty()) Refuse(live_refused, &live.report);
  }
  for (Grown* other : {&reserved, &used}) {
    if (!other->surely()) {
      const bool follows = live.surely() && live_refused.empty() && other->report.refused.empty();
      if (follows) Refuse("it hardly rises yet: what stays behind fits into what was taken before", &other->report);
      continue;
    }
    if (!live_refused.empty()) {
      Refuse(live_refused, &other->report);
    } else if (!live.surely()) {
      Refuse(Stairs(other->rises, " while what is live does not grow: fragmentation, or memory that nobody traced"),
             &other->report);
    } else if (other->rises < kMinRises) {
      Refuse(Stairs(other->rises, ", too few to tell a rate by"), &other->report);
    }
  }
  device->growth_of = ReportGrowths{live.report, reserved.report, used.report};
  device->growth = live.report;
}

}  // namespace vramtrack
