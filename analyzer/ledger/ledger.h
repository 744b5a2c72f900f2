// SPDX-License-Identifier: Apache-2.0
//
// Replays a trace: a clock that tells the steps, the table of what is live, who holds how much (sites), and what that
// adds up to (scopes), now and at the peak. Whatever else is to be found out is an observer's. One pass, constant time
// an event; memory is bounded by live allocations, sites and steps, not by the trace.
#ifndef ANALYZER_LEDGER_LEDGER_H_
#define ANALYZER_LEDGER_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/live_table.h"
#include "analyzer/ledger/mapped_memory.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/ledger/scope.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/ledger/step_clock.h"
#include "analyzer/ledger/unseen_memory.h"

namespace vramtrack {

struct LedgerOptions {
  bool decode_ahead = false;  // in another thread; what is found is the same
  // Where events are counted while they are replayed; not owned, may be null.
  std::atomic<uint64_t>* replayed = nullptr;
  // Memory besides that of events; may be null, not owned.
  const UnseenMemory* unseen = nullptr;
  // It has its sites, so that sites are numbered alike in every replay, but nothing of it is ever live.
  bool unseen_sites_only = false;
  // Told of what is replayed, in this order; not owned.
  std::vector<ReplayObserver*> observers;
};

// Thread-compatible.
class Ledger {
 public:
  Ledger(const Trace& trace, StepPlan plan, LedgerOptions options = {});

  // Reads the whole stream of the trace.
  void Replay();

  const Sites& sites() const { return sites_.sites(); }
  const std::vector<Scope>& scopes() const { return scopes_; }
  const StepClock& steps() const { return clock_; }
  // When each complete step ended, in ticks.
  const std::vector<uint64_t>& step_ends() const { return step_ends_; }
  // What is live by an identity of its own; but for memory that is mapped behind its release, and the past's sums.
  const LiveTable& live() const { return live_; }

  // Calls `visit(site, birth_step, objects, bytes)` for all that is live now, in no particular order: one object each
  // time, but of the past of a trace of bounded size, where several count together.
  template <typename Visit>
  void ForEachLive(Visit visit) const {
    const auto one = [&visit](const LiveAllocation& allocation) {
      visit(allocation.site, allocation.birth_step, uint64_t{1}, allocation.bytes);
    };
    live_.ForEach(one);
    mapped_.ForEachReleased(one);
    for (const auto& [name, fold] : folds_) visit(fold.site, fold.birth_step, fold.objects, fold.bytes);
  }

  // During a replay: the event that observers are being told of; null for what comes from no event of its own. Memory
  // that a device's reset takes away is freed by that.
  const StreamEvent* present_event() const { return present_event_; }

  // What a device's figures in a report are about, now; of a framework's device either of its levels will do.
  struct Levels {
    uint64_t device_used = 0, reserved = 0, live = 0;
  };
  Levels LevelsOf(const Scope& scope) const {
    if (__builtin_expect(scope.segments != nullptr, 0)) return LevelsOfFramework(scope);
    const uint64_t reserved = scope.is_device() ? scope.pages.reserved() : scope.live;
    return {reserved + scope.outside, reserved, scope.live};
  }

  uint64_t events() const { return events_; }
  uint64_t unknown_frees() const { return unknown_frees_; }
  uint64_t unreadable_events() const { return unreadable_events_; }
  uint64_t live_objects() const { return live_.size(); }
  uint64_t last_ticks() const { return last_ticks_; }

 private:
  // A site that was looked up before, by what an event says of it.
  struct RecentSite {
    uint64_t key = UINT64_MAX;
    SiteIndex site;
  };
  static constexpr size_t kRecentSites = 4096;

  // Beyond any device: sums of damaged sizes stay far from 2^64.
  static constexpr uint64_t kMaxAllocationBytes = uint64_t{1} << 48;

  // The replay, ledger.cc.
  void MoveClock(uint64_t time) {
    if (time > last_ticks_) last_ticks_ = time;
  }
  void Apply(const StreamEvent& event);
  void Allocate(const StreamEvent& event);
  void Free(const StreamEvent& event);
  void TellMemory(const StreamEvent& event);
  void EndStep();
  SiteIndex SiteOf(const StreamEvent& event);
  StackIndex StackOf(const StreamEvent& event, uint32_t kind) const;
  SiteIndex FindSite(const SiteKey& key);
  uint32_t ScopeOf(Level level, DeviceIndex device);

  // The totals, totals.cc.
  void Enter(const LiveAllocation& allocation, AllocationName name, uint64_t stream);
  void Vanish(const LiveAllocation& allocation, AllocationName name);
  void Raise(Site* site, Scope* scope, const LiveAllocation& allocation, AllocationName name);
  void RaisePeak(Scope* scope);
  Moment MomentOf(const Scope& scope) const;
  void NoteEnd();
  // What a site held at the peak is what it held before its first change since: noted then, so raising the peak costs
  // nothing however many sites there are.
  void BeforeChange(Site* site) {
    if (const uint32_t epoch = scopes_[site->peak_scope].peak_epoch; site->peak_epoch != epoch) site->NotePeak(epoch);
  }

  // A framework's level, framework_level.cc.
  void AddFrameworkLevels();
  void EnterRange(const LiveAllocation& allocation, SiteIndex site, AllocationName memory, bool mapped);
  uint64_t LeaveRange(const LiveAllocation& allocation);  // bytes of segments that end with it
  void PlaceBlock(const LiveAllocation& allocation);
  FrameworkShare ShareOf(const Scope& framework) const;
  Levels LevelsOfFramework(const Scope& scope) const;
  uint64_t LevelOfScope(const Scope& scope) const;
  void NoteLevel(Scope* scope);

  // Sums of the past and what only CUPTI saw, past.cc and unseen_memory.cc.
  void FoldAllocate(const StreamEvent& event);
  void FoldFree(const StreamEvent& event);
  void MoveFold(const ReplayFold& fold, bool born);
  uint32_t StepsWithin(uint64_t ticks) const;
  void ApplyUnseen(uint64_t until);

  const Trace& trace_;
  LedgerOptions options_;
  std::vector<ReplayObserver*> on_allocate_, on_free_;  // those of options_.observers that want these calls
  StepClock clock_;
  std::vector<uint64_t> step_ends_;  // ticks
  LiveTable live_;
  MappedMemory mapped_;
  std::vector<RecentSite> recent_;
  SiteTable sites_;
  std::vector<Scope> scopes_;
  std::deque<Segments> segments_;  // stay where they are
  bool has_graph_pools_ = false;
  absl::flat_hash_map<uint64_t, ReplayFold> folds_;  // by StreamEvent::ordinal
  uint64_t folded_steps_ = 0;
  size_t next_unseen_ = 0;
  uint64_t unseen_ticks_ = UINT64_MAX;  // when the next change of unseen memory is
  const StreamEvent* present_event_ = nullptr;
  uint64_t events_ = 0, unknown_frees_ = 0, unreadable_events_ = 0, last_ticks_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_LEDGER_H_
