// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_ANALYZE_OPTIONS_H_
#define ANALYZER_FINDINGS_CORE_ANALYZE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/attribution/category.h"
#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/analysis_progress.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/leaks/prior.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

class KnownFindings;

struct AnalyzeOptions {
  size_t top = 20;  // sites to report in addition to leaks, by bytes at the peak
  StackDetail stacks = StackDetail::kUseful;
  SymbolizerOptions symbols;
  std::string step_marks;    // what ends a step, see ParseStepMarks
  CategoryRules categories;  // with the user's rules
  // The bytes allocated in a window, if windows replace steps; 0: chosen from what the trace allocates.
  uint64_t window_bytes = 0;
  // The planned length of the run in steps. A leak that stays small until then is minor.
  uint64_t horizon_steps = 100000;
  // To measure what a rule carries: other numbers behind a verdict, and the id of a fact that is not asked.
  Prior prior;
  std::string without_fact;
  bool follow = false;  // the first replay is to go on when the trace has grown, see FollowedProcess
  // Number of processors to use; 0: all. The findings do not depend on it.
  size_t threads = 0;
  AnalysisProgress* progress = nullptr;  // not owned; may be null
  PassLog* passes = nullptr;             // not owned; may be null; receives the passes that were made
  KnownFindings* known = nullptr;        // not owned; may be null; comparisons fill it and reports take from it
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_ANALYZE_OPTIONS_H_
