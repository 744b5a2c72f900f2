// SPDX-License-Identifier: Apache-2.0
//
// Verdicts on sites of a run that has several phases: each phase has steps of its own, with a warm-up of its own, and a
// site is judged in each of them by itself.
#ifndef ANALYZER_FINDINGS_CORE_PHASE_VERDICTS_H_
#define ANALYZER_FINDINGS_CORE_PHASE_VERDICTS_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/cohort.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// A phase of a replayed run. Steps are dense indices of the whole run.
struct RunPhase {
  StepSpan steps;     // complete ones
  uint32_t plan = 0;  // index into StepPlan::phases
  PlannedPhase::Kind kind = PlannedPhase::Kind::kSteps;
  Step warmup_end = 0;   // of the whole run's indices
  double share = 1;      // of the run
  bool ended = false;    // other phases with steps or windows followed
  bool follows = false;  // other phases with steps went before
};

// Empty for a run whose steps are all of one kind. `similarities`: of its steps, see step_similarity.h.
std::vector<RunPhase> PhasesOf(const StepClock& clock, const std::vector<float>& similarities);

struct PhaseVerdict {
  LeakVerdict verdict;
  size_t phase = 0;  // index into the phases: which one the verdict is about
};

// `run`: of the whole run, whose device and horizon count. `phases` must not be empty. The verdict's steps are indices
// of the whole run. A leak in windows next to phases with steps, or in a phase that has ended and was a small part of
// the run, is insufficient_evidence: what a program sets up there, or needs later, looks the same.
PhaseVerdict JudgeInPhases(const SiteHistory& history, const RunShape& run, const std::vector<RunPhase>& phases,
                           const SiteContext& context, JudgeDetail detail);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PHASE_VERDICTS_H_
