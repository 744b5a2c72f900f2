// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_REPLAY_OBSERVER_H_
#define ANALYZER_LEDGER_REPLAY_OBSERVER_H_

#include <cstdint>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/stream_event.h"
#include "analyzer/ledger/live_table.h"
#include "analyzer/ledger/scope.h"
#include "analyzer/ledger/site_table.h"

namespace vramtrack {

class Ledger;

// An allocation by its identity, which no other one of the trace has. References are valid during the call.
struct ReplayAllocation {
  ThreadSlot slot;  // of the thread that allocated
  uint64_t ordinal;
  const LiveAllocation& allocation;
  const Site& site;            // of the allocation: tells kind, level and device
  const Scope* scope;          // whose total it counts to; null: handles and addresses count to none
  uint64_t stream = 0;         // OnAllocate, of stream-ordered memory: the handle of its stream or pool
  uint64_t segment_bytes = 0;  // OnFree: of a framework's segments, which end with it
};

// Objects of the past of a trace of bounded size that are born together and die together.
struct ReplayFold {
  SiteIndex site;
  uint32_t birth_step = 0;
  uint64_t objects = 0, bytes = 0;
};

// Follows a replay: for all that needs single events and not only the ledger's sums. Each call comes when the ledger
// has counted the event whole: its sites, scopes, live table, steps and last_ticks() are those behind the event, and
// what they were before is that less the event's own objects and bytes (a scope's `changes`: less one). What is kept
// should be bounded by what is live and by sites, not by the trace. Observers are told one after the other and cannot
// rely on which of them is first.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;

  // The calls that are made for every allocation or free. One that does not name a call here is spared what it costs,
  // and need not be told. Asked once, before OnBegin.
  static constexpr unsigned kAllocations = 1, kFrees = 2;
  virtual unsigned frequent_calls() const { return kAllocations | kFrees; }

  // Before the first event; the ledger outlives the replay.
  virtual void OnBegin(const Ledger& /*ledger*/) {}
  virtual void OnAllocate(const ReplayAllocation& /*allocated*/) {}
  // Also of what a device's reset or the end of a mapping takes away.
  virtual void OnFree(const ReplayAllocation& /*freed*/) {}
  // The past of a trace of bounded size, as far as it counts to a total: `objects` of `bytes` in all are born together,
  // or die together. What was born and died within one bin of time is not told.
  virtual void OnFold(SiteIndex /*site*/, uint64_t /*objects*/, uint64_t /*bytes*/, bool /*born*/) {}
  // The same past, of all sites, and each time before OnFold. Of what is born and dies within one bin of time there is
  // one call, with the steps that it lived.
  virtual void OnPastBirth(const ReplayFold& /*fold*/) {}
  virtual void OnPastDeath(const ReplayFold& /*fold*/) {}
  virtual void OnPastBrief(const ReplayFold& /*fold*/, uint32_t /*lifetime_steps*/) {}
  // `step`: the index of the step that is complete now. The event that ends a step comes after this call.
  virtual void OnStepEnd(uint32_t /*step*/) {}
  // Neither an allocation nor a free: marks, failures, what a framework tells.
  virtual void OnOtherEvent(const StreamEvent& /*event*/) {}
  // After the last event.
  virtual void OnEnd() {}
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_REPLAY_OBSERVER_H_
