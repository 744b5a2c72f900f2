// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/process_description.h"

#include <algorithm>

#include "analyzer/steps/step_similarity.h"

namespace vramtrack {

ReportProcess DescribeProcess(const Trace& trace, const Ledger& ledger) {
  const TracedProcess& traced = trace.definitions().process;
  ReportProcess process;
  process.pid = traced.pid;
  process.parent_pid = traced.parent_pid;
  process.rank = traced.rank;
  process.command = traced.command;
  process.incomplete_why = trace.IncompleteWhy();
  process.complete = process.incomplete_why.empty();
  process.events = trace.events();
  process.lost_events = trace.lost_events() + ledger.unreadable_events();
  process.duration_s = trace.clock().Seconds(std::max(ledger.last_ticks(), trace.end_ticks()));
  return process;
}

ReportSteps DescribeSteps(const Ledger& ledger) {
  const StepPlan& plan = ledger.steps().plan();
  ReportSteps steps;
  steps.count = ledger.steps().step();
  steps.source = plan.source;
  if (plan.has_windows()) {
    steps.unit = "window";
    steps.window_bytes = plan.window_bytes;
  } else if (plan.mark_slot != StepPlan::kNone) {
    steps.confidence = 1;
  } else if (plan.has_steps()) {
    steps.confidence = ShareOfMatchingSteps(ledger.step_similarities());
    // That they are steps is known, though they may be unlike each other.
    if (plan.anchor_site == StepPlan::kNone) steps.confidence = (9 + steps.confidence) / 10;
  }
  for (const OuterLoop& loop : plan.outer) steps.rounds.push_back({loop.inner, loop.occurrences});
  return steps;
}

}  // namespace vramtrack
