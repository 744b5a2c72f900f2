// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_STREAM_REPLAY_H_
#define ANALYZER_FINDINGS_CORE_STREAM_REPLAY_H_

#include <cstdint>

#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/regular_gaps.h"

namespace vramtrack {

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

#endif  // ANALYZER_FINDINGS_CORE_STREAM_REPLAY_H_
