// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_STEP_PLAN_H_
#define ANALYZER_FINDINGS_CORE_STEP_PLAN_H_

#include <cstdint>
#include <memory>

#include "analyzer/findings/core/mark_scan.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/findings/core/replays.h"
#include "analyzer/findings/core/step_marks.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/step_clock.h"

namespace vramtrack {

// What finding the steps keeps of a reading of a trace, to go on with a later one. Both may be null.
struct KeptSearch {
  std::unique_ptr<MarkScan> marks;
  std::unique_ptr<StreamReplay> stream;
};

// Decides where the steps of a trace end: at the marks of the thread with the most marks, or else at NVTX ranges, at
// an optimizer's steps, or where the stream of allocations repeats itself, which takes a replay. If the trace has none
// of these there are no steps, but windows of equally many allocated bytes if there is enough for some dozens of them.
// `wanted`: use only these. `window_bytes`: see AnalyzeOptions. `replay`: options of the replay. `passes` may be null;
// otherwise the passes made are noted there. `kept`: null, or what is kept of an earlier reading of the trace, if
// anything: it goes on where it can, and is there afterwards for the next reading.
StepPlan PlanSteps(const Trace& trace, const StepMarks& wanted = {}, const LedgerOptions& replay = {},
                   uint64_t window_bytes = 0, PassPlan* passes = nullptr, KeptSearch* kept = nullptr);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_STEP_PLAN_H_
