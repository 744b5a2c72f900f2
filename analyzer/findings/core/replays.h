// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_REPLAYS_H_
#define ANALYZER_FINDINGS_CORE_REPLAYS_H_

#include <cstdint>

#include "analyzer/holders/walked_blocks.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/gathered_results.h"
#include "analyzer/ledger/growth_ledger.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/ledger/site_order.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/peaks/framework_check.h"
#include "analyzer/peaks/site_phases.h"
#include "analyzer/peaks/timeline.h"
#include "analyzer/steps/regular_gaps.h"

namespace vramtrack {

// The first replay of a trace (Pass::kSites): what each site holds, step by step, and all else that verdicts need. Not
// movable, as its parts refer to each other. Thread-compatible.
class SiteReplay {
 public:
  // `options` are those of all replays of the trace, without observers. `trace` must outlive it.
  SiteReplay(const Trace& trace, StepPlan plan, LedgerOptions options);
  SiteReplay(const SiteReplay&) = delete;
  SiteReplay& operator=(const SiteReplay&) = delete;

  // See Ledger. What the accessors return is complete after Replay().
  void Replay();
  void KeepPlace() { ledger_.KeepPlace(); }
  // As Ledger::Continue. Runs without steps cannot go on: how they are divided depends on their length. Nor can a trace
  // with a new walk through Python's objects.
  bool Continue(StepPlan plan);

  // Returns the number of events of the last Replay().
  uint64_t replayed() const { return ledger_.events() - before_; }

  const Ledger& ledger() const { return ledger_; }
  const SiteHistories& histories() const { return histories_; }
  const SiteOrder& order() const { return order_; }
  const GrowthLedger& growth() const { return growth_; }
  const GatheredResults& gathered() const { return gathered_; }
  const LevelTimeline& timeline() const { return timeline_; }
  const FailureLog& failures() const { return failures_; }
  const FrameworkCheck& framework_check() const { return framework_check_; }
  const SitePhases& phases() const { return phases_; }
  const HolderWalks& walks() const { return walks_; }
  const WalkedBlocks& walked_blocks() const { return walked_blocks_; }

 private:
  LedgerOptions WithObservers(LedgerOptions options);

  const Trace& trace_;
  HolderWalks walks_;
  size_t walk_frames_;  // those that walks_ is made of
  SiteHistories histories_;
  SiteOrder order_;
  GrowthLedger growth_;
  GatheredResults gathered_;
  LevelTimeline timeline_;
  FailureLog failures_;
  FrameworkCheck framework_check_;
  SitePhases phases_;
  WalkedBlocks walked_blocks_;
  Ledger ledger_;
  uint64_t before_ = 0;  // events before the last Replay()
};

// The replay that finds the period of a job without step marks (Pass::kStream): which sites there are, and how
// regularly each allocates. Not movable, as its parts refer to each other. Thread-compatible.
class StreamReplay {
 public:
  // `options` are those of all replays of the trace, without observers. `trace` must outlive it.
  StreamReplay(const Trace& trace, LedgerOptions options);
  StreamReplay(const StreamReplay&) = delete;
  StreamReplay& operator=(const StreamReplay&) = delete;

  // See Ledger. What the accessors return is complete after Replay().
  void Replay();
  void KeepPlace() { ledger_.KeepPlace(); }
  // As Ledger::Continue. There may have been other continuations of the trace since the last Replay().
  bool Continue() { return ledger_.Continue(StepPlan()); }

  // Returns the number of events of the last Replay().
  uint64_t replayed() const { return ledger_.events() - before_; }

  const Ledger& ledger() const { return ledger_; }
  const RegularGaps& gaps() const { return gaps_.gaps(); }

 private:
  // Reports to RegularGaps what the job allocates, as far as its own events say it.
  class GapsObserver final : public ReplayObserver {
   public:
    const RegularGaps& gaps() const { return gaps_; }

    unsigned frequent_calls() const override { return kAllocations; }
    void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
    void OnAllocate(const ReplayAllocation& allocated) override;

   private:
    uint64_t LiveBefore(const ReplayAllocation& allocated) const;

    const Ledger* ledger_ = nullptr;
    RegularGaps gaps_;
  };

  LedgerOptions WithObserver(LedgerOptions options);

  GapsObserver gaps_;
  Ledger ledger_;
  uint64_t before_ = 0;  // events before the last Replay()
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_REPLAYS_H_
