// SPDX-License-Identifier: Apache-2.0
//
// The phases of a run. Each has steps of its own and its own warm-up, and is judged by itself.
#ifndef ANALYZER_VERDICTS_RUN_PHASES_H_
#define ANALYZER_VERDICTS_RUN_PHASES_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/ledger/step_clock.h"

namespace vramtrack {

// Steps are indices into all steps of the run.
struct RunPhase {
  StepSpan steps;     // complete steps
  uint32_t plan = 0;  // index into StepPlan::phases
  PlannedPhase::Kind kind = PlannedPhase::Kind::kSteps;
  StepSource source = StepSource::kNone;
  Step warmup_end = 0;
  double share = 1;      // share of the run
  bool ended = false;    // phases with steps or windows follow it
  bool follows = false;  // phases with steps or windows precede it
  // Its steps are not training steps, and a phase of training precedes it.
  bool after_training = false;
};

// Returns the phases; empty if all steps are of one kind. `similarities`: of the run's steps, see step_similarity.h.
std::vector<RunPhase> PhasesOf(const StepClock& clock, const std::vector<float>& similarities);

// Returns the whole run as one phase.
RunPhase WholeRun(const StepClock& clock, const std::vector<float>& similarities);

// Returns what was allocated and freed in these steps, as if they were a run of their own: its steps begin with 0.
SiteHistory PartOf(const SiteHistory& history, StepSpan steps);

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_RUN_PHASES_H_
