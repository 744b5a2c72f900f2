// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/run_phases.h"

#include <algorithm>

#include "analyzer/steps/step_similarity.h"

namespace vramtrack {
namespace {

// The job itself or an optimizer says what its steps are.
bool IsTraining(StepSource source) { return source == StepSource::kMarks || source == StepSource::kOptimizer; }

bool IsJudged(const RunPhase& phase) { return phase.kind != PlannedPhase::Kind::kUnjudged; }

}  // namespace

std::vector<RunPhase> PhasesOf(const StepClock& clock, const std::vector<float>& all) {
  const std::vector<StepClock::PhaseStart>& starts = clock.phase_starts();
  const std::vector<PlannedPhase>& planned = clock.plan().phases;
  std::vector<RunPhase> phases;
  bool judged_before = false, trained_before = false;
  for (size_t i = 0; i < starts.size() && starts[i].phase < planned.size(); ++i) {
    const Step end = i + 1 < starts.size() ? starts[i + 1].step : clock.step();
    if (end <= starts[i].step) continue;
    RunPhase phase;
    phase.steps = {starts[i].step, end};
    phase.plan = starts[i].phase;
    phase.kind = planned[phase.plan].kind;
    phase.source = planned[phase.plan].source;
    phase.share = planned[phase.plan].share;
    const size_t begin = std::min<size_t>(phase.steps.begin, all.size()), last = std::min<size_t>(end, all.size());
    const std::vector<float> similarities(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                          all.begin() + static_cast<std::ptrdiff_t>(last));
    phase.warmup_end = phase.steps.begin + WarmupEnd(phase.steps.size(), StructureSettled(similarities));
    const bool training = phase.kind == PlannedPhase::Kind::kSteps && IsTraining(phase.source);
    phase.follows = judged_before;
    phase.after_training = phase.kind == PlannedPhase::Kind::kSteps && !training && trained_before;
    judged_before |= IsJudged(phase);
    trained_before |= training;
    phases.push_back(phase);
  }
  for (size_t i = 0; i < phases.size(); ++i) {
    phases[i].ended = std::any_of(phases.begin() + static_cast<std::ptrdiff_t>(i) + 1, phases.end(), IsJudged);
  }
  return phases;
}

RunPhase WholeRun(const StepClock& clock, const std::vector<float>& similarities) {
  RunPhase whole;
  whole.steps = {0, clock.step()};
  whole.kind = clock.plan().has_windows() ? PlannedPhase::Kind::kWindows : PlannedPhase::Kind::kSteps;
  whole.source = clock.plan().source;
  whole.warmup_end = WarmupEnd(clock.step(), StructureSettled(similarities));
  return whole;
}

SiteHistory PartOf(const SiteHistory& history, StepSpan steps) {
  SiteHistory part = history;
  const auto within = [&steps](const auto& at) { return at.step >= steps.begin && at.step < steps.end; };
  const auto cut = [&](auto* all) {
    all->erase(std::remove_if(all->begin(), all->end(), [&](const auto& at) { return !within(at); }), all->end());
    for (auto& at : *all) at.step -= steps.begin;
  };
  cut(&part.cohorts);
  cut(&part.deaths);
  part.first_birth = std::max(history.first_birth, steps.begin) - steps.begin;
  part.last_birth = std::max(std::min(history.last_birth, steps.end), steps.begin) - steps.begin;
  return part;
}

}  // namespace vramtrack
