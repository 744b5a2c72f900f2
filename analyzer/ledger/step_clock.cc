// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/step_clock.h"

namespace vramtrack {
namespace {

bool SamePhase(const PlannedPhase& a, const PlannedPhase& b) {
  return a.kind == b.kind && a.source == b.source && a.name == b.name;
}

bool SameEnd(const StepPlan::MarkEnd& a, const StepPlan::MarkEnd& b) { return a.mark == b.mark && a.phase == b.phase; }

bool SameCut(const StepPlan::Cut& a, const StepPlan::Cut& b) { return a.time == b.time && a.phase == b.phase; }

// Whether the first `passed` ends are the same in both, and the next one of `later` is not before `now`.
template <typename End, typename Same, typename Position>
bool GoesOn(const std::vector<End>& earlier, const std::vector<End>& later, size_t passed, const Same& same,
            const Position& position, uint64_t now) {
  return later.size() >= passed &&
         std::equal(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(passed), earlier.begin(), same) &&
         (later.size() == passed || position(later[passed]) >= now);
}

}  // namespace

bool StepClock::Continue(StepPlan plan, uint64_t last) {
  if (plan.mark_slot != plan_.mark_slot || plan.anchor_site != plan_.anchor_site) return false;
  if (plan.at_inside != plan_.at_inside || plan.picks() != plan_.picks() || plan.windows != plan_.windows) return false;
  for (const StackIndex i : plan_.inside.indices()) {
    if (!plan.inside.Has(i) || plan.inside[i] != plan_.inside[i]) return false;
  }
  if (plan.phases.empty() != plan_.phases.empty()) return false;
  for (size_t i = 0; !starts_.empty() && i <= starts_.back().phase; ++i) {
    if (i >= plan.phases.size() || !SamePhase(plan.phases[i], plan_.phases[i])) return false;
  }
  if (plan.marks.size() != plan_.marks.size()) return false;
  for (const ThreadSlot slot : plan_.marks.indices()) {
    const auto number = [](const StepPlan::MarkEnd& end) { return end.mark; };
    if (!GoesOn(plan_.marks[slot], plan.marks[slot], marks_[slot].next, SameEnd, number, marks_[slot].seen))
      return false;
  }
  const auto time = [](const StepPlan::Cut& cut) { return cut.time; };
  if (!GoesOn(plan_.cuts, plan.cuts, next_cut_, SameCut, time, last + 1)) return false;
  plan_ = std::move(plan);
  next_time_ = next_cut_ < plan_.cuts.size() ? plan_.cuts[next_cut_].time : UINT64_MAX;
  return true;
}

}  // namespace vramtrack
