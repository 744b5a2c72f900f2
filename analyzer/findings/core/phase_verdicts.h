// SPDX-License-Identifier: Apache-2.0
//
// Judges sites of a run that has several phases. Each phase has its own steps and its own warm-up, and a site is
// judged in each phase separately.
#ifndef ANALYZER_FINDINGS_CORE_PHASE_VERDICTS_H_
#define ANALYZER_FINDINGS_CORE_PHASE_VERDICTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/leaks/cohort.h"
#include "analyzer/leaks/step_levels.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// A phase of a replayed run. Steps are indices into all steps of the run.
struct RunPhase {
  StepSpan steps;     // complete steps
  uint32_t plan = 0;  // index into StepPlan::phases
  PlannedPhase::Kind kind = PlannedPhase::Kind::kSteps;
  Step warmup_end = 0;   // an index into all steps of the run
  double share = 1;      // share of the run
  bool ended = false;    // phases with steps or windows follow it
  bool follows = false;  // phases with steps precede it
  // Its steps are not training steps, and a phase of training precedes it.
  bool after_training = false;
};

// Returns the phases; empty if all steps are of one kind. `similarities`: of the run's steps, see step_similarity.h.
std::vector<RunPhase> PhasesOf(const StepClock& clock, const std::vector<float>& similarities);

struct PhaseVerdict {
  LeakVerdict verdict;
  size_t phase = 0;  // index of the phase that the verdict is about
};

// Judges a site in each phase and returns the verdict that counts. `run`: the whole run, for its device and horizon.
// `phases` must not be empty. The steps of the verdict are indices into all steps of the run. A leak in windows next
// to phases with steps, in a phase after the training, or in an ended phase that was a small part of the run, is
// insufficient_evidence: memory that the program sets up there, collects for a result, or needs later, looks the same.
PhaseVerdict JudgeInPhases(const SiteHistory& history, const RunShape& run, const std::vector<RunPhase>& phases,
                           const SiteContext& context, JudgeDetail detail);

// Makes a verdict insufficient_evidence that no further steps will change. `why`: a sentence without a full stop.
void Doubt(const std::string& why, LeakVerdict* verdict);

// Changes a verdict of growth by replacement that holds only for the last phase, after the training, to
// insufficient_evidence. `levels`: those that the verdict was made of.
void DoubtGrowthAfterTraining(const StepLevels& levels, const RunShape& run, const std::vector<RunPhase>& phases,
                              LeakVerdict* verdict);

// Changes a verdict of growth by replacement to insufficient_evidence if nothing says that the steps are those of a
// job: a loop that makes one result, such as a text token by token, makes it larger in each round until it ends.
// `steps`: of the run.
void DoubtGrowthInOneLoop(StepSource source, const SiteHistory& history, Step steps, LeakVerdict* verdict);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PHASE_VERDICTS_H_
