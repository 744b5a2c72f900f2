// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_REPLAY_OBSERVER_H_
#define ANALYZER_LEDGER_REPLAY_OBSERVER_H_

#include <cstdint>

#include "analyzer/ingest/stream_event.h"
#include "analyzer/ledger/live_table.h"

namespace vramtrack {

class Ledger;

// An allocation by its identity, which no other one of the trace has.
struct ReplayAllocation {
  uint32_t slot;  // of the thread that allocated, see StreamEvent; behind all threads for LedgerOptions::unseen
  uint64_t ordinal;
  const LiveAllocation& allocation;  // its site tells kind, level and device; valid during the call
  uint64_t stream = 0;               // OnAllocate, of stream-ordered memory: the handle of its stream or pool
};

// Follows a replay: for findings that need single events and not only sums. Each call comes after the ledger has
// counted the event, so that ledger's sites, scopes, steps and last_ticks() are those of that moment. Memory should be
// bounded by what is live and by sites, not by the trace. A replay without observers pays one comparison an event.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;

  // Before the first event; the ledger outlives the replay.
  virtual void OnBegin(const Ledger& /*ledger*/) {}
  virtual void OnAllocate(const ReplayAllocation& /*allocated*/) {}
  // Also of what a device's reset or the end of a mapping takes away.
  virtual void OnFree(const ReplayAllocation& /*freed*/) {}
  // The past of a trace of bounded size: `objects` of `bytes` in all are born together, or die together. What was born
  // and died within one bin of time is not told.
  virtual void OnFold(uint32_t /*site*/, uint64_t /*objects*/, uint64_t /*bytes*/, bool /*born*/) {}
  // `step`: the index of the step that is complete now. The allocation that ends a step comes after this call.
  virtual void OnStepEnd(uint32_t /*step*/) {}
  // Neither an allocation nor a free: marks, failures, what a framework tells.
  virtual void OnOtherEvent(const StreamEvent& /*event*/) {}
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_REPLAY_OBSERVER_H_
