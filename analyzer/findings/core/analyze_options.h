// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_ANALYZE_OPTIONS_H_
#define ANALYZER_FINDINGS_CORE_ANALYZE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/analysis_progress.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

class KnownFindings;

struct AnalyzeOptions {
  size_t top = 20;  // sites that are no leaks, by what they hold at the peak
  StackDetail stacks = StackDetail::kUseful;
  SymbolizerOptions symbols;
  // Where steps end: "marks", "nvtx", "nvtx:NAME", "record_function:NAME", "optimizer", "periodicity", "none"; empty:
  // the first of these that there is.
  std::string step_marks;
  // Of the windows that stand for steps where there are none; 0: chosen from what the trace allocates.
  uint64_t window_bytes = 0;
  // The run's planned length in steps: a leak that comes to little until then is minor.
  uint64_t horizon_steps = 100000;
  // Processors to use; 0: all there are. What is found does not depend on it.
  size_t threads = 0;
  AnalysisProgress* progress = nullptr;  // not owned; may be null
  PassLog* passes = nullptr;             // the same: is told which passes were made
  KnownFindings* known = nullptr;        // the same: a comparison adds to them, a report takes from them
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_ANALYZE_OPTIONS_H_
