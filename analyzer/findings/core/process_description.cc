// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/process_description.h"

#include <algorithm>
#include <utility>

#include "analyzer/findings/core/growth_findings.h"
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

}  // namespace vramtrack
