// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/process_description.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {

ReportProcess DescribeProcess(const Trace& trace, const Ledger& ledger) {
  const TracedProcess& traced = trace.definitions().process;
  ReportProcess process;
  process.pid = traced.pid;
  process.parent_pid = traced.parent_pid;
  process.rank = traced.rank;
  process.command = traced.command;
  process.run_id = traced.run_id;
  process.incomplete_why = trace.IncompleteWhy();
  process.complete = process.incomplete_why.empty();
  process.events = trace.events();
  process.lost_events = trace.lost_events() + ledger.unreadable_events();
  for (const TracedAllocator& allocator : trace.definitions().allocators) {
    process.allocators.push_back({allocator.framework, allocator.name, allocator.device});
  }
  process.duration_s = trace.clock().Seconds(std::max(ledger.last_ticks(), trace.end_ticks()));
  const uint64_t start_ns = trace.clock().start_realtime_ns();
  if (start_ns > 0) process.newest_event_s = static_cast<double>(start_ns) / 1e9 + process.duration_s;
  process.joined_after_s = traced.joined_after_s;
  return process;
}

namespace {

void DescribePhases(const Ledger& ledger, ReportSteps* steps) {
  const std::vector<StepClock::PhaseStart>& starts = ledger.steps().phase_starts();
  const std::vector<PlannedPhase>& planned = ledger.steps().plan().phases;
  if (planned.empty()) return;
  steps->count = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const uint32_t end = i + 1 < starts.size() ? starts[i + 1].step : ledger.steps().step();
    const PlannedPhase& plan = planned[starts[i].phase];
    ReportPhase phase;
    phase.source = plan.source;
    phase.name = plan.name;
    phase.unit = plan.kind == PlannedPhase::Kind::kSteps     ? StepUnit::kStep
                 : plan.kind == PlannedPhase::Kind::kWindows ? StepUnit::kWindow
                                                             : StepUnit::kNone;
    phase.count = phase.unit == StepUnit::kNone ? 0 : end - std::min(end, starts[i].step);
    phase.first_step = starts[i].step;
    phase.share = plan.share;
    if (phase.unit == StepUnit::kStep) steps->count += phase.count;
    steps->phases.push_back(std::move(phase));
  }
}

}  // namespace

ReportSteps DescribeSteps(const ProcessAnalysis& analysis) {
  const Ledger& ledger = analysis.ledger();
  const StepPlan& plan = ledger.steps().plan();
  ReportSteps steps;
  steps.count = ledger.steps().step();
  steps.source = plan.source;
  steps.name = plan.name;
  steps.coverage = plan.has_steps() && !plan.has_windows() ? plan.coverage : 0;
  steps.judged = plan.has_steps() ? plan.judged : 0;
  if (plan.has_steps() && !plan.has_windows()) steps.seconds = SecondsPerStep(analysis);
  steps.runner_up = plan.runner_up;
  steps.runner_up_count = plan.runner_up_count;
  if (plan.has_windows()) {
    steps.unit = StepUnit::kWindow;
    steps.window_bytes = plan.window_bytes;
  } else if (plan.source == StepSource::kMarks) {
    steps.confidence = plan.coverage;
  } else if (plan.has_steps()) {
    const double alike = ShareOfMatchingSteps(analysis.histories().step_similarities());
    // Marks are steps though they may be unlike each other; what repeats itself must be alike.
    steps.confidence = plan.anchor_site.is_none() ? plan.coverage * (9 + alike) / 10 : alike;
    // Of several loops nothing in the stream says which one a reader would count.
    constexpr double kSomeLoop = 0.8;
    if (!plan.anchor_site.is_none() && !plan.outer.empty()) steps.confidence = std::min(steps.confidence, kSomeLoop);
  }
  steps.rarest_leak = analysis.run_verdicts().rarest_leak;
  for (const OuterLoop& loop : plan.outer) steps.rounds.push_back({loop.inner, loop.occurrences});
  DescribePhases(ledger, &steps);
  return steps;
}

namespace {

constexpr size_t kMostPoints = 300;
// A point should have as many readings, so that few have none.
constexpr size_t kReadingsPerPoint = 2;
// The first part of the run is not judged: libraries are loaded, and malloc's arenas fill.
constexpr double kFirstPart = 1.0 / 3;
// Growth is called so if it came in so many rises, if it is this many bytes and this share of what is resident, and if
// its second half is at least half as steep as its first.
constexpr size_t kFewestRises = 5;
constexpr double kLeastBytes = 1 << 20, kLeastShare = 0.005, kSlowsDown = 0.5;

// The lowest and highest reading in each span of `steps_per_point` steps. A span without a reading is as the one
// before it.
LevelSeries ResidentSeries(const std::vector<HostReading>& readings, const std::vector<uint64_t>& step_ends,
                           size_t steps_per_point) {
  LevelSeries series;
  series.steps_per_point = static_cast<double>(steps_per_point);
  const size_t points = step_ends.size() / steps_per_point;
  size_t next = 0;
  for (size_t point = 0; point < points; ++point) {
    const uint64_t end = step_ends[(point + 1) * steps_per_point - 1];
    double low = INFINITY, high = 0;
    for (; next < readings.size() && readings[next].time <= end; ++next) {
      const auto resident = static_cast<double>(readings[next].resident);
      low = std::min(low, resident);
      high = std::max(high, resident);
    }
    if (high == 0) low = high = series.high.empty() ? static_cast<double>(readings[0].resident) : series.high.back();
    series.low.push_back(low);
    series.high.push_back(high);
  }
  return series;
}

LevelSeries PinnedSeries(const Scope* scope, size_t steps, size_t steps_per_point) {
  LevelSeries series;
  series.steps_per_point = static_cast<double>(steps_per_point);
  for (size_t point = 0; point < steps / steps_per_point; ++point) {
    double low = scope == nullptr ? 0 : INFINITY, high = 0;
    for (size_t step = point * steps_per_point; scope != nullptr && step < (point + 1) * steps_per_point; ++step) {
      low = std::min(low, step < scope->floors.size() ? static_cast<double>(scope->floors[step]) : 0);
      high = std::max(high, step < scope->ceilings.size() ? static_cast<double>(scope->ceilings[step]) : 0);
    }
    series.low.push_back(low);
    series.high.push_back(high);
  }
  return series;
}

// The slope of part of a series; 0 if it is unknown.
double Slope(const LevelSeries& series, size_t begin, size_t end) {
  LevelSeries part;
  part.steps_per_point = series.steps_per_point;
  part.low.assign(series.low.begin() + static_cast<std::ptrdiff_t>(begin),
                  series.low.begin() + static_cast<std::ptrdiff_t>(end));
  part.high.assign(series.high.begin() + static_cast<std::ptrdiff_t>(begin),
                   series.high.begin() + static_cast<std::ptrdiff_t>(end));
  const std::optional<FittedGrowth> growth = FitGrowth(part, 0);
  return growth ? growth->bytes_per_step : 0;
}

// Why growth is not called so; empty if it is.
std::string RefusedFor(const LevelSeries& series, size_t begin, const FittedGrowth& growth) {
  if (growth.ci_low <= 0) return "";
  const size_t points = series.low.size() - begin;
  const double grown = growth.bytes_per_step * static_cast<double>(points) * series.steps_per_point;
  if (grown < kLeastBytes || grown < kLeastShare * series.high.back()) return "it is too little to matter";
  if (growth.rises < kFewestRises) return absl::StrCat("it rose only ", growth.rises, " times");
  const size_t middle = begin + points / 2;
  if (points < 2 * kMinGrowthSteps) return "";
  const double before = Slope(series, begin, middle), after = Slope(series, middle, series.low.size());
  return after < kSlowsDown * before ? "it slows down" : "";
}

void Describe(const LevelSeries& series, Step warmup_end, ReportHostFigure* figure) {
  for (const double low : series.low) figure->low.push_back(static_cast<uint64_t>(low));
  for (const double high : series.high) figure->high.push_back(static_cast<uint64_t>(high));
  const auto first = std::max(std::ceil(warmup_end / series.steps_per_point),
                              std::ceil(kFirstPart * static_cast<double>(series.low.size())));
  const auto begin = static_cast<size_t>(first);
  if (begin >= series.low.size()) return;
  const std::optional<FittedGrowth> growth = FitGrowth(series, begin);
  if (!growth) return;
  ReportGrowth& described = figure->growth.emplace();
  described.bytes_per_step = growth->bytes_per_step;
  described.ci_low = growth->ci_low;
  described.ci_high = growth->ci_high;
  described.refused = RefusedFor(series, begin, *growth);
}

}  // namespace

std::optional<ReportHost> DescribeHost(const ProcessAnalysis& analysis) {
  const std::vector<HostReading>& readings = analysis.trace().definitions().host_readings;
  if (readings.empty()) return std::nullopt;
  ReportHost host;
  host.pid = analysis.trace().definitions().process.pid;
  host.rank = analysis.trace().definitions().process.rank;
  host.readings = readings.size();
  host.resident.first = readings.front().resident;
  host.resident.last = readings.back().resident;
  host.shared = std::min(readings.back().shared, readings.back().resident);
  for (const HostReading& reading : readings) host.resident.peak = std::max(host.resident.peak, reading.resident);
  const Scope* pinned = nullptr;
  for (const Scope& scope : analysis.ledger().scopes()) {
    if (scope.device == kHost && scope.level == Level::kDriver) pinned = &scope;
  }
  if (pinned != nullptr) {
    host.pinned.last = pinned->live;
    host.pinned.peak = pinned->peak;
  }
  const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
  if (ends.empty() || analysis.plan().has_windows()) return host;
  const size_t points = std::max<size_t>(1, std::min(kMostPoints, readings.size() / kReadingsPerPoint));
  const size_t steps_per_point = (ends.size() + points - 1) / points;
  Describe(ResidentSeries(readings, ends, steps_per_point), analysis.run().warmup_end, &host.resident);
  Describe(PinnedSeries(pinned, ends.size(), steps_per_point), analysis.run().warmup_end, &host.pinned);
  for (size_t point = 0; point < host.resident.low.size(); ++point) {
    const auto step = static_cast<uint32_t>(point * steps_per_point);
    host.step.push_back(ReportedStep(analysis.run(), step).value_or(step));
  }
  return host;
}

namespace {

constexpr size_t kMostSpans = 200;

void AddSpan(double until_s, uint64_t most, CardUse* use) {
  use->until_s.push_back(std::min(use->ended_s, until_s));
  use->reserved.push_back(most);
}

// Joins `count` successive parts of the run to a few spans. `most_of(part)`: the most bytes in a part. `end_of(part)`:
// its end in ticks.
template <typename MostOf, typename EndOf>
void AddSpans(size_t count, MostOf most_of, EndOf end_of, const TickClock& clock, CardUse* use) {
  const size_t per_span = count / kMostSpans + 1;
  for (size_t begin = 0; begin < count; begin += per_span) {
    const size_t end = std::min(begin + per_span, count);
    uint64_t most = 0;
    for (size_t part = begin; part < end; ++part) most = std::max(most, most_of(part));
    AddSpan(clock.RealtimeSeconds(end_of(end - 1)), most, use);
  }
}

// What the driver gave out to the process at most, in successive spans of its steps, or of time where it has none.
void AddSpansOf(const ProcessAnalysis& analysis, const Scope& driver, CardUse* use) {
  const TickClock& clock = analysis.trace().clock();
  const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
  const LevelTimeline& levels = analysis.timeline();
  if (!driver.ceilings.empty()) {
    AddSpans(
        std::min(ends.size(), driver.ceilings.size()), [&](size_t step) { return driver.ceilings[step]; },
        [&](size_t step) { return ends[step]; }, clock, use);
    AddSpan(use->ended_s, driver.ceiling, use);
  } else if (driver.segments != nullptr || levels.in_steps()) {
    // The timeline has the framework's own memory only.
    AddSpan(use->ended_s, driver.peak, use);
  } else {
    const std::vector<LevelTimeline::Bin>& bins = levels.bins(driver);
    AddSpans(
        bins.size(), [&](size_t bin) { return bins[bin].high[static_cast<size_t>(DeviceFigure::kLive)]; },
        [&](size_t bin) { return levels.start_ticks() + (bin + 1) * levels.bin_width(); }, clock, use);
  }
}

}  // namespace

std::vector<CardUse> DescribeCardUses(const ProcessAnalysis& analysis) {
  std::vector<CardUse> uses;
  const TickClock& clock = analysis.trace().clock();
  if (clock.start_realtime_ns() == 0) return uses;
  for (const auto& [index, device] : analysis.trace().definitions().devices) {
    const Scope* driver = ScopeOfDevice(analysis.ledger(), DeviceIndex(index));
    if (device.uuid.empty() || driver == nullptr) continue;
    CardUse& use = uses.emplace_back();
    use.device = index;
    use.uuid = device.uuid;
    use.name = device.name;
    use.total_bytes = device.total_bytes;
    use.began_s = static_cast<double>(clock.start_realtime_ns()) / 1e9;
    use.ended_s = std::max(use.began_s, clock.RealtimeSeconds(analysis.ledger().last_ticks()));
    use.peak = driver->peak;
    use.last = driver->live;
    AddSpansOf(analysis, *driver, &use);
    if (driver->asked_ticks == 0) continue;
    use.asked_s = clock.RealtimeSeconds(driver->asked_ticks);
    use.in_use = driver->asked_used;
  }
  return uses;
}

}  // namespace vramtrack
