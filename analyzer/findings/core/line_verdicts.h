// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_LINE_VERDICTS_H_
#define ANALYZER_FINDINGS_CORE_LINE_VERDICTS_H_

#include <vector>
#include "analyzer/findings/core/code_lines.h"
#include "analyzer/findings/core/phase_verdicts.h"
#include "analyzer/findings/core/site_groups.h"
#include "analyzer/leaks/posterior.h"
#include "analyzer/ledger/site_histories.h"

namespace vramtrack {

struct LineVerdict {
  CodeLine line;
  LeakVerdict verdict;
  double survivors = 0, growth = 0;  // log odds
};

struct LineRun {
  const Trace& trace;
  const Ledger& ledger;
  const SiteHistories& histories;
  const GrowthLedger& growth;
  const std::vector<RunPhase>& phases;
  RunShape shape;
  StackSymbolizer* symbolizer;
};

std::vector<LineVerdict> JudgeLines(const LineRun& run, SiteVerdicts* verdicts, IndexedVector<SiteIndex, size_t>* phase_of_site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_LINE_VERDICTS_H_
