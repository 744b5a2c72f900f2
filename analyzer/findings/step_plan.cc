// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/step_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/findings/step_marks.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/regular_gaps.h"
#include "proto/block_decoder.h"

namespace vramtrack {
namespace {

struct Marks {
  uint64_t count = 0, first_time = 0;
};

Marks CountMarks(const ThreadBlocks& thread) {
  Marks marks = {thread.past_steps, thread.first_past_step};
  for (const BlockRef& block : thread.blocks) {
    BlockDecoder decoder;
    if (!block.has_steps || !decoder.Open(block.payload)) continue;
    for (DecodedEvent event; decoder.Next(&event);) {
      if (event.shape->operation != schema::STEP) continue;
      if (marks.count++ == 0) marks.first_time = event.time;
    }
  }
  return marks;
}

uint32_t MarkingSlot(const Trace& trace) {
  std::vector<uint32_t> candidates;
  for (uint32_t slot = 0; slot < trace.threads().size(); ++slot) {
    const std::vector<BlockRef>& blocks = trace.threads()[slot].blocks;
    if (trace.threads()[slot].past_steps > 0 ||
        std::any_of(blocks.begin(), blocks.end(), [](const BlockRef& block) { return block.has_steps; })) {
      candidates.push_back(slot);
    }
  }
  if (candidates.size() <= 1) return candidates.empty() ? StepPlan::kNone : candidates[0];
  uint32_t best = candidates[0];
  Marks most;
  for (const uint32_t slot : candidates) {
    const Marks marks = CountMarks(trace.threads()[slot]);
    if (marks.count > most.count || (marks.count == most.count && marks.first_time < most.first_time)) {
      best = slot;
      most = marks;
    }
  }
  return best;
}

// "nvtx:NAME" to the name behind `prefix`; empty for what does not begin like that.
std::string NameBehind(const std::string& wanted, const std::string& prefix) {
  return wanted.rfind(prefix, 0) == 0 ? wanted.substr(prefix.size()) : "";
}

bool PlanByMarks(const Trace& trace, const std::string& wanted, StepPlan* plan) {
  const StepMarks marks(trace);
  const std::string range = NameBehind(wanted, "nvtx:"), function = NameBehind(wanted, "record_function:");
  if (!range.empty()) return marks.PlanByNames(range, schema::MARK_RANGE_PUSH, plan);
  if (!function.empty()) return marks.PlanByNames(function, schema::MARK_RECORD_FUNCTION, plan);
  const bool any = wanted.empty();
  if ((any || wanted == "nvtx") && marks.PlanByNames("", schema::MARK_NONE, plan)) return true;
  return (any || wanted == "optimizer") && (marks.PlanByOptimizer(plan) || marks.PlanByOptimizerAllocations(plan));
}

}  // namespace

StepPlan PlanSteps(const Trace& trace, const std::string& wanted, const LedgerOptions& replay) {
  StepPlan plan;
  if (wanted == "none") return plan;
  if (wanted.empty() || wanted == "marks") {
    plan.mark_slot = MarkingSlot(trace);
    if (plan.mark_slot != StepPlan::kNone) {
      plan.source = "marks";
      return plan;
    }
  }
  if (wanted != "marks" && wanted != "periodicity" && PlanByMarks(trace, wanted, &plan)) return plan;
  if (!wanted.empty() && wanted != "periodicity") return plan;
  RegularGaps gaps;
  LedgerOptions options = replay;
  options.histories = options.timeline = false;
  options.gaps = &gaps;
  Ledger ledger(trace, plan, options);
  ledger.Replay();
  const std::vector<GapFamily> families = gaps.Families();
  if (families.empty()) return plan;
  plan.source = "periodicity";
  plan.anchor_site = families[0].anchor;
  return plan;
}

}  // namespace vramtrack
