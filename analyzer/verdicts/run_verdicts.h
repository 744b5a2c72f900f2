// SPDX-License-Identifier: Apache-2.0
//
// Judges a run: attributes the growth of each ledger to lines of code, and classifies what grew. Each line is judged in
// each phase of the run, and the gravest phase counts. A line that is not sure as a whole is looked at stack by stack;
// growth that no line has alone is looked for in functions, files and modules. None is nobody's.
#ifndef ANALYZER_VERDICTS_RUN_VERDICTS_H_
#define ANALYZER_VERDICTS_RUN_VERDICTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/verdicts/line_verdict.h"

namespace vramtrack {

// The part of a site in the verdict on its line. Steps are indices into all steps of the run.
struct SiteVerdict {
  Verdict verdict = Verdict::kSteady;
  // The site's share of the line's rate. Zero unless it leaks or may leak.
  double rate_bytes_per_step = 0, rate_objects_per_step = 0;
  double rate_ci_low = 0, rate_ci_high = 0;  // 95 %
  std::optional<Step> onset_step;            // leaks only: the first step that left something, if after warm-up
  StepSpan tested, leaking;                  // as in Judgement
  Step longest_life = 0;
  bool replaced = false;
  bool joint = false;  // it leaks together with other stacks, which do not all leak by themselves
  Period period;
  uint32_t line = UINT32_MAX;  // an index into RunVerdicts::lines; UINT32_MAX for sites that never kept anything
};
using SiteVerdicts = IndexedVector<SiteIndex, SiteVerdict>;

struct RunVerdicts {
  std::vector<RunPhase> phases;    // by time; one for a run whose steps are of one kind
  std::vector<LineVerdict> lines;  // that keep or held something at quiet moments
  SiteVerdicts sites;
  Step rarest_leak = 0;  // see RarestLeak(), of the longest phase that is judged; 0 as well if a line leaks
};

// Returns the verdicts on all sites. `phases`: see PhasesOf(); must not be empty.
RunVerdicts JudgeRun(const ReplayedRun& run, std::vector<RunPhase> phases);

// Returns the shape of the run for what a figure of it depends on.
bool IsMaterial(const LineVerdict& verdict, const ReplayedRun& run);

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_RUN_VERDICTS_H_
