// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/step_plan.h"

#include <algorithm>
#include <string>
#include <utility>
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

Marks CountMarks(const Trace& trace, const ThreadBlocks& thread) {
  Marks marks = {thread.past_steps, thread.first_past_step};
  ReleaseBehind release(trace);
  for (const BlockRef& block : thread.blocks) {
    release.Passed(block.offset);
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
    const Marks marks = CountMarks(trace, trace.threads()[slot]);
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

// Without any step, windows in which a job allocates equally much: each some of what it does over and over. Small ones
// would hold nothing by chance, few ones would prove nothing.
constexpr uint64_t kMostWindows = 100;
constexpr uint64_t kFewestWindows = 32;
constexpr uint64_t kAllocationsInWindow = 8;
// What a site allocates less often is set-up.
constexpr uint64_t kRepeated = 8;

void PlanWindows(const Ledger& ledger, uint64_t window_bytes, StepPlan* plan) {
  const std::vector<Site>& sites = ledger.sites();
  // What is freed again tells how far the work has come. What only grows may be a model that is read.
  std::vector<bool> work(sites.size());
  uint64_t allocations = 0, bytes = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    const Site& site = sites[i];
    work[i] = site.scope != Site::kNoScope && site.segments == 0 && site.allocations >= kRepeated &&
              2 * site.frees >= site.allocations;
    if (!work[i]) continue;
    allocations += site.allocations;
    bytes += site.bytes_allocated;
  }
  const uint64_t windows = std::min(kMostWindows, allocations / kAllocationsInWindow);
  if (windows < kFewestWindows || bytes < windows) return;
  plan->window_bytes = window_bytes != 0 ? window_bytes : bytes / windows;
  plan->work = std::move(work);
}

// Whether anything comes and goes as often as the family occurs. A loop in which nothing does is one over the weights
// of a model, or another part of the set-up: it does not work.
bool Works(const Ledger& ledger, const GapFamily& family) {
  return std::any_of(ledger.sites().begin(), ledger.sites().end(), [&](const Site& site) {
    return site.allocations + 1 >= family.occurrences && 2 * site.frees >= site.allocations;
  });
}

}  // namespace

StepPlan PlanSteps(const Trace& trace, const std::string& wanted, const LedgerOptions& replay, uint64_t window_bytes) {
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
  const GapFamily* steps = RegularGaps::StepsOf(families);
  if (steps == nullptr || !Works(ledger, *steps)) {
    if (wanted.empty()) PlanWindows(ledger, window_bytes, &plan);
    return plan;
  }
  plan.source = "periodicity";
  plan.anchor_site = steps->anchor;
  plan.outer = LoopsAround(*steps, families);
  return plan;
}

}  // namespace vramtrack
