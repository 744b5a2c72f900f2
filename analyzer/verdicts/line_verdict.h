// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a line of code, and what it is made from.
#ifndef ANALYZER_VERDICTS_LINE_VERDICT_H_
#define ANALYZER_VERDICTS_LINE_VERDICT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/holders/walked_blocks.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/gathered_results.h"
#include "analyzer/ledger/growth_ledger.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/ledger/site_order.h"
#include "analyzer/ledger/unseen_memory.h"
#include "analyzer/model/enums.h"
#include "analyzer/verdicts/code_lines.h"
#include "analyzer/verdicts/judgement.h"
#include "analyzer/verdicts/run_phases.h"

namespace vramtrack {

// What the first replay of a run has found out. Nothing is owned.
struct ReplayedRun {
  const Trace& trace;
  const Ledger& ledger;
  const SiteHistories& histories;
  const GrowthLedger& growth;
  const SiteOrder& order;
  const GatheredResults& gathered;
  const HolderWalks& walks;
  const WalkedBlocks& walked_blocks;
  const UnseenMemory* unseen;   // may be null
  StackSymbolizer* symbolizer;  // useful frames
  StackSymbolizer* raw;         // all frames
  uint64_t horizon_steps;       // planned length of the run
  const Prior& prior;
  const std::string& without_fact;  // id of the fact that is not asked; empty: none
};

struct Fact;

struct LineVerdict {
  CodeLine line;                    // with all its sites that hold or held something
  CodeUnit unit = CodeUnit::kLine;  // what was judged: the line, or the function, file or module that it is a part of
  std::vector<SiteIndex> parts;     // the sites that the verdict is about
  bool each = false;                // each of them leaks by itself
  size_t phase = 0;                 // that it is about, an index into RunVerdicts::phases
  Judgement judgement;
  Verdict verdict = Verdict::kSteady;
  const Fact* reason = nullptr;  // the fact that decided against the judgement; null: none
  std::string why;               // its sentence

  bool leaks() const { return IsLeak(verdict); }
  bool unsure() const { return verdict == Verdict::kInsufficientEvidence; }
};

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_LINE_VERDICT_H_
