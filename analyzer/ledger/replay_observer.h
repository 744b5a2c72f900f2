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

// An allocation with its identity (slot, ordinal), which is unique in the trace; or a sum of objects of the past of a
// trace of bounded size, which are allocated together and freed together. References are valid during the call.
struct ReplayAllocation {
  ThreadSlot slot;  // of the thread that allocated
  uint64_t ordinal;
  const LiveAllocation& allocation;
  const Site& site;            // the allocation's site, with its kind and device
  const Scope* scope;          // the total that it counts to; null for handles and address ranges
  uint64_t stream = 0;         // OnAllocate of stream-ordered memory: the handle of its stream or pool
  uint64_t segment_bytes = 0;  // OnFree: bytes of a framework's segments that end with it
  uint64_t objects = 1;        // of a sum, which have `allocation.bytes` together
  bool is_sum = false;         // without an identity, a thread and an address
};

// Follows a replay, for analyses that need single events and not only the ledger's sums. The ledger calls an observer
// after it has counted the whole event: its sites, scopes, live table, steps and last_ticks() include the event. To get
// the state before the event, subtract the event's own objects and bytes (and 1 from a scope's `changes`). An
// observer's memory should be bounded by live allocations and sites, not by the length of the trace. Observers must not
// depend on the order in which they are called.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;

  // Returns which of the calls for every allocation and every free the observer needs, and whether also for sums. The
  // ledger leaves out calls for sums, and may leave out others, which saves their time. Called once, before OnBegin.
  static constexpr unsigned kAllocations = 1, kFrees = 2, kSums = 4, kAll = kAllocations | kFrees | kSums;
  virtual unsigned frequent_calls() const { return kAllocations | kFrees; }

  // Called before the first event. The ledger outlives the replay.
  virtual void OnBegin(const Ledger& /*ledger*/) {}
  virtual void OnAllocate(const ReplayAllocation& /*allocated*/) {}
  // Also called for memory that a device reset or the end of a mapping frees.
  virtual void OnFree(const ReplayAllocation& /*freed*/) {}
  // Called when more or less of a driver site's memory is in segments of a framework's allocator, before the call for
  // the event that changed it.
  virtual void OnSegments(SiteIndex /*site*/) {}
  // Called for a sum of objects that were allocated and freed within one time bin, with their lifetime in steps. How
  // many of them were live at one time is not known: there is no other call for them.
  virtual void OnBrief(const ReplayAllocation& /*sum*/, uint32_t /*lifetime_steps*/) {}
  // Called when the step with index `step` is complete, and before the call for the event that ended it.
  virtual void OnStepEnd(uint32_t /*step*/) {}
  // Called for events that are neither an allocation nor a free: marks, failures, a framework's own figures.
  virtual void OnOtherEvent(const StreamEvent& /*event*/) {}
  // Called after the last event. A replay may go on afterwards, see Ledger::Continue, and end again: this must not
  // change what later events add up to.
  virtual void OnEnd() {}
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_REPLAY_OBSERVER_H_
