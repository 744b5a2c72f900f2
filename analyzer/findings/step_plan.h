// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_STEP_PLAN_H_
#define ANALYZER_FINDINGS_STEP_PLAN_H_

#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/step_clock.h"

namespace vramtrack {

// Decides where the steps of a trace end: at the marks of the thread that set most of them, or else where the stream of
// allocations repeats itself, which takes a replay. Without either there are no steps.
StepPlan PlanSteps(const Trace& trace);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_STEP_PLAN_H_
