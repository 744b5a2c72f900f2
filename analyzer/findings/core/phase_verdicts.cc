// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/phase_verdicts.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/leaks/buffer_growth.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {
namespace {

// A phase that has ended must have been this much of the run before what it left behind is called a leak.
constexpr double kMuchOfTheRun = 0.25;

// What decides between the phases of a site that leaks in none of them, the first that there is.
constexpr Verdict kByWeight[] = {
    Verdict::kInsufficientEvidence, Verdict::kFragmentationGrowth, Verdict::kSublinear,
    Verdict::kPhaseAccumulation,    Verdict::kCycleGarbage,        Verdict::kOneTime,
};

size_t WeightOf(Verdict verdict) {
  return static_cast<size_t>(std::find(std::begin(kByWeight), std::end(kByWeight), verdict) - std::begin(kByWeight));
}

Step Back(Step step, Step begin) { return step > begin ? step - begin : 0; }

// What was born in these steps, as if they were a run of their own.
SiteHistory PartOf(const SiteHistory& history, StepSpan steps) {
  SiteHistory part = history;
  part.cohorts.clear();
  for (const Cohort& cohort : history.cohorts) {
    if (cohort.step < steps.begin || cohort.step >= steps.end) continue;
    part.cohorts.push_back(cohort);
    part.cohorts.back().step -= steps.begin;
  }
  part.deaths.clear();
  for (const Deaths& deaths : history.deaths) {
    if (deaths.step < steps.begin || deaths.step >= steps.end) continue;
    part.deaths.push_back(deaths);
    part.deaths.back().step -= steps.begin;
  }
  part.first_birth = Back(std::max(history.first_birth, steps.begin), steps.begin);
  part.last_birth = Back(std::min(history.last_birth, steps.end), steps.begin);
  return part;
}

RunShape ShapeOf(const RunShape& run, const RunPhase& phase) {
  RunShape shape = run;
  shape.steps = phase.steps.size();
  shape.warmup_end = Back(phase.warmup_end, phase.steps.begin);
  shape.windows = phase.kind == PlannedPhase::Kind::kWindows;
  shape.step_numbers.clear();
  for (Step step = phase.steps.begin; step < phase.steps.end; ++step) shape.step_numbers.push_back(run.NumberOf(step));
  return shape;
}

void MoveTo(Step begin, LeakVerdict* verdict) {
  for (StepSpan* span : {&verdict->evidence.tested, &verdict->evidence.leaking}) {
    span->begin += begin;
    span->end += begin;
  }
  if (verdict->onset_step) *verdict->onset_step += begin;
}

// The job says itself what its steps are, or an optimizer does.
bool IsTraining(const PlannedPhase& phase) {
  return phase.source == StepSource::kMarks || phase.source == StepSource::kOptimizer;
}

// A loop that makes one result replaces it in this part of its rounds.
constexpr double kNearlyAll = 0.9;

std::string WithinLastSteps(const RunPhase& phase) {
  return absl::StrCat("memory grows within the last ", phase.steps.size(),
                      " steps only, after the last step of the training, like the results that an evaluation collects "
                      "until it ends");
}

}  // namespace

void Doubt(const std::string& why, LeakVerdict* verdict) {
  verdict->verdict = Verdict::kInsufficientEvidence;
  verdict->further_steps_needed = 0;
  verdict->onset_step.reset();
  verdict->doubt = why;
  if (!verdict->explanation.empty()) absl::StrAppend(&verdict->explanation, "; but ", why);
}

std::vector<RunPhase> PhasesOf(const StepClock& clock, const std::vector<float>& all) {
  const std::vector<StepClock::PhaseStart>& starts = clock.phase_starts();
  const std::vector<PlannedPhase>& planned = clock.plan().phases;
  std::vector<RunPhase> phases;
  for (size_t i = 0; i < starts.size() && starts[i].phase < planned.size(); ++i) {
    const Step end = i + 1 < starts.size() ? starts[i + 1].step : clock.step();
    if (end <= starts[i].step) continue;
    RunPhase phase;
    phase.steps = {starts[i].step, end};
    phase.plan = starts[i].phase;
    phase.kind = planned[phase.plan].kind;
    phase.share = planned[phase.plan].share;
    const size_t begin = std::min<size_t>(phase.steps.begin, all.size()), last = std::min<size_t>(end, all.size());
    const std::vector<float> similarities(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                          all.begin() + static_cast<std::ptrdiff_t>(last));
    phase.warmup_end = phase.steps.begin + WarmupEnd(phase.steps.size(), StructureSettled(similarities));
    phases.push_back(phase);
  }
  const auto judged = [](const RunPhase& phase) { return phase.kind != PlannedPhase::Kind::kUnjudged; };
  for (size_t i = 0; i < phases.size(); ++i) {
    phases[i].ended = std::any_of(phases.begin() + static_cast<std::ptrdiff_t>(i) + 1, phases.end(), judged);
    phases[i].follows = std::any_of(phases.begin(), phases.begin() + static_cast<std::ptrdiff_t>(i), judged);
    const auto training = [&](const RunPhase& phase) {
      return phase.kind == PlannedPhase::Kind::kSteps && IsTraining(planned[phase.plan]);
    };
    phases[i].after_training = phases[i].kind == PlannedPhase::Kind::kSteps && !training(phases[i]) &&
                               std::any_of(phases.begin(), phases.begin() + static_cast<std::ptrdiff_t>(i), training);
  }
  return phases;
}

PhaseVerdict JudgeInPhases(const SiteHistory& history, const RunShape& run, const std::vector<RunPhase>& phases,
                           const SiteContext& context, JudgeDetail detail) {
  PhaseVerdict worst;
  bool any = false;
  for (size_t i = 0; i < phases.size(); ++i) {
    const RunPhase& phase = phases[i];
    if (phase.kind == PlannedPhase::Kind::kUnjudged) continue;
    LeakVerdict verdict = JudgeSite(PartOf(history, phase.steps), ShapeOf(run, phase), context, detail);
    MoveTo(phase.steps.begin, &verdict);
    if (IsLeak(verdict.verdict)) {
      if (phase.kind == PlannedPhase::Kind::kWindows) {
        // What grows before the first step is set-up as a rule.
        if (phase.follows) {
          Doubt(
              "memory grows in a part of the run that has no steps, so it may as well be what the job set up there; "
              "call vramtrack_step() once a step",
              &verdict);
        } else {
          verdict.verdict = Verdict::kOneTime;
          verdict.onset_step.reset();
        }
      } else if (phase.after_training) {
        Doubt(WithinLastSteps(phase), &verdict);
      } else if (phase.ended && phase.share < kMuchOfTheRun) {
        Doubt("the part of the run in which memory grew has ended, and what it left may be what the job needed later",
              &verdict);
      }
    }
    const auto left = [](const LeakVerdict& one) {
      return one.rate_bytes_per_step * static_cast<double>(one.evidence.tested.size());
    };
    bool worse = !any;
    if (any && IsLeak(verdict.verdict) != IsLeak(worst.verdict.verdict)) {
      worse = IsLeak(verdict.verdict);
    } else if (any && IsLeak(verdict.verdict)) {
      worse = left(verdict) > left(worst.verdict);
    } else if (any) {
      worse = WeightOf(verdict.verdict) < WeightOf(worst.verdict.verdict);
    }
    if (!worse) continue;
    any = true;
    worst.verdict = std::move(verdict);
    worst.phase = i;
  }
  if (!any) worst.verdict = JudgeSite(history, run, context, detail);
  return worst;
}

void DoubtGrowthAfterTraining(const StepLevels& levels, const RunShape& run, const std::vector<RunPhase>& phases,
                              LeakVerdict* verdict) {
  const auto judged = [](const RunPhase& phase) { return phase.kind != PlannedPhase::Kind::kUnjudged; };
  const auto last = std::find_if(phases.rbegin(), phases.rend(), judged);
  if (last == phases.rend() || !last->after_training) return;
  if (!IsLeak(verdict->verdict) || verdict->evidence.buffer.trend == BufferTrend::kNone) return;
  // Judged with the training, growth that began there began before this phase.
  RunShape whole = run;
  whole.warmup_end = std::find_if(phases.begin(), phases.end(), judged)->warmup_end;
  const BufferGrowth growth = JudgeLevels(levels, whole, verdict->evidence.buffer.more_objects);
  const bool grows = growth.trend == BufferTrend::kGrows || growth.trend == BufferTrend::kGrowsRarely;
  if (grows && growth.span.begin + 2 * levels.steps_per_bin < last->steps.begin) return;
  Doubt(WithinLastSteps(*last), verdict);
}

void DoubtGrowthInOneLoop(StepSource source, const SiteHistory& history, Step steps, LeakVerdict* verdict) {
  if (source != StepSource::kPeriodicity) return;
  const BufferGrowth& buffer = verdict->evidence.buffer;
  if (!IsLeak(verdict->verdict) || buffer.trend == BufferTrend::kNone || buffer.onset_seen) return;
  if (history.birth_steps < kNearlyAll * steps) return;
  Doubt(
      "steps are known only by repeated allocations, so this may be one loop that grows until it ends, like the cache "
      "of one generated text; call vramtrack_step() once a request",
      verdict);
}

}  // namespace vramtrack
