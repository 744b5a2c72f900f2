// SPDX-License-Identifier: Apache-2.0
//
// Replays a trace in one pass. The ledger numbers the steps, keeps the table of live allocations, and accounts for them
// by site and by scope, now and at the peak. Everything else is computed by observers. An event takes constant time.
// Memory is bounded by the live allocations, sites and steps, not by the length of the trace.
#ifndef ANALYZER_LEDGER_LEDGER_H_
#define ANALYZER_LEDGER_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/live_table.h"
#include "analyzer/ledger/mapped_memory.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/ledger/scope.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/ledger/step_clock.h"
#include "analyzer/ledger/unseen_memory.h"

namespace vramtrack {

struct LedgerOptions {
  // Counts the replayed events, for progress displays. Not owned; may be null.
  std::atomic<uint64_t>* replayed = nullptr;
  // Memory that no hooked event reports. Not owned; may be null.
  const UnseenMemory* unseen = nullptr;
  // Creates the sites of `unseen`, so that every replay numbers sites alike, but never counts its memory.
  bool unseen_sites_only = false;
  // Observers of the replay, called in this order. Not owned.
  std::vector<ReplayObserver*> observers;
};

// The accounting of a trace's memory: see the top of this file. Thread-compatible.
class Ledger {
 public:
  Ledger(const Trace& trace, StepPlan plan, LedgerOptions options = {});
  ~Ledger();

  // Reads the stream of the trace up to its end or time limit. The observers' OnEnd is called each time.
  void Replay();
  // Makes the ledger one that can go on after Replay().
  void KeepPlace() { keeps_place_ = true; }
  // After Trace::Continue(), and with a plan that was made for the newer reading: prepares for another Replay(), which
  // goes on where the last one ended. Returns false if the steps or events so far would have been others; the ledger is
  // then of no use any more.
  bool Continue(StepPlan plan);

  const Sites& sites() const { return sites_.sites(); }
  const std::vector<Scope>& scopes() const { return scopes_; }
  const StepClock& steps() const { return clock_; }
  // Returns the end of each complete step, in ticks.
  const std::vector<uint64_t>& step_ends() const { return step_ends_; }
  // Returns the live allocations that have an identity. Memory that is still mapped after its handle was released, and
  // the sums of the past of a trace of bounded size, are not in this table.
  const LiveTable& live() const { return live_; }

  // Calls `visit(site, birth_step, objects, bytes)` for everything that is live now, in no particular order. `objects`
  // is 1, except for sums of the past of a trace of bounded size.
  template <typename Visit>
  void ForEachLive(Visit visit) const {
    const auto one = [&visit](const LiveAllocation& allocation) {
      visit(allocation.site, allocation.birth_step, uint64_t{1}, allocation.bytes);
    };
    live_.ForEach([&one](const AllocationName&, const LiveAllocation& allocation) { one(allocation); });
    mapped_.ForEachReleased(one);
    for (const auto& [number, sum] : sums_) {
      visit(sum.allocation.site, sum.allocation.birth_step, sum.objects, sum.allocation.bytes);
    }
  }

  // Calls `visit(name, allocation)` for each live block of a framework's allocator on the device, in no particular
  // order.
  template <typename Visit>
  void ForEachBlock(DeviceIndex device, Visit visit) const {
    live_.ForEach([&](const AllocationName& name, const LiveAllocation& allocation) {
      if (allocation.device() != device || LevelOf(sites()[allocation.site].key.kind) != Level::kFramework) return;
      visit(name, allocation);
    });
  }

  // Returns the event that observers are called for during a replay. Null for a change that has no event of its own.
  // For memory that a device reset frees, this is the event of the reset.
  const StreamEvent* present_event() const { return present_event_; }

  // The present figures of a device, as a report shows them, in bytes. On a device with a framework level, the scope of
  // either level gives the same figures.
  struct Levels {
    uint64_t device_used = 0, reserved = 0, live = 0;
  };
  Levels LevelsOf(const Scope& scope) const {
    if (__builtin_expect(scope.segments != nullptr, 0)) return LevelsOfFramework(scope);
    const uint64_t reserved = scope.is_device() ? scope.pages.reserved() : scope.live;
    return {reserved + scope.outside, reserved, scope.live};
  }

  // Returns what a site held at the peak of its device so far, in bytes.
  uint64_t BytesAtPeak(const Site& site) const {
    if (site.peak_scope == Site::kNoScope) return 0;
    return site.peak_epoch == scopes_[site.peak_scope].peak_epoch ? site.bytes_at_peak : site.live_bytes;
  }

  // Returns the size of the device's memory in bytes; 0 for the host and if the trace does not contain it.
  uint64_t DeviceBytes(DeviceIndex device) const;
  // Estimates the share of the process's frees that the trace lacks, after a replay: 0 for a complete trace, at most 1.
  double lost_share() const;

  uint64_t events() const { return events_; }
  uint64_t unknown_frees() const { return unknown_frees_; }
  // Returns how often CUDA refused to free something, by the call's stack and the error code.
  const std::map<std::pair<StackIndex, uint64_t>, uint64_t>& refused_frees() const { return refused_frees_; }
  uint64_t unreadable_events() const { return unreadable_events_; }
  uint64_t live_objects() const { return live_.size(); }
  uint64_t last_ticks() const { return last_ticks_; }

 private:
  // A cache entry of SiteOf(): the key is made of the event's fields that determine its site.
  struct RecentSite {
    uint64_t key = UINT64_MAX;
    SiteIndex site;
  };
  static constexpr size_t kRecentSites = 4096;

  // Objects of the past of a trace of bounded size, with their bytes together.
  struct Sum {
    LiveAllocation allocation;
    uint64_t objects = 0;
  };

  // More than any device has. Larger sizes come from damage; the limit keeps their sums far below 2^64.
  static constexpr uint64_t kMaxAllocationBytes = uint64_t{1} << 48;

  // The replay, ledger.cc.
  void MoveClock(uint64_t time) {
    if (time > last_ticks_) last_ticks_ = time;
  }
  void Apply(const StreamEvent& event);
  void NoteDeviceMemory(const StreamEvent& event);
  void Refuse(const StreamEvent& event);
  void EndStep();
  SiteIndex SiteOf(const StreamEvent& event);
  StackIndex StackOf(const StreamEvent& event, uint32_t kind);
  SiteIndex FindSite(const SiteKey& key);
  uint32_t ScopeOf(Level level, DeviceIndex device);

  // Allocations, frees and the totals, totals.cc.
  void Allocate(const StreamEvent& event);
  void Free(const StreamEvent& event);
  void Enter(const LiveAllocation& allocation, AllocationName name, uint64_t stream);
  void Vanish(const LiveAllocation& allocation, AllocationName name);
  void Raise(Site* site, Scope* scope, const LiveAllocation& allocation, AllocationName name);
  void RaisePeak(Scope* scope);
  Moment MomentOf(const Scope& scope) const;
  void NoteEnd();
  // Must be called before `site` changes. A site's bytes at the peak are its bytes before its first change after the
  // peak. They are noted then, so raising the peak takes constant time for any number of sites.
  void BeforeChange(Site* site) {
    if (const uint32_t epoch = scopes_[site->peak_scope].peak_epoch; site->peak_epoch != epoch) site->NotePeak(epoch);
  }

  // A framework's level, framework_level.cc.
  void AddFrameworkLevels();
  void EnterRange(const LiveAllocation& allocation, SiteIndex site, AllocationName memory, SiteIndex mapping);
  void OnAddressSpace(const StreamEvent& event, const LiveAllocation& allocation);
  uint64_t LeaveRange(const LiveAllocation& allocation);  // returns the bytes of segments that end with it
  void PlaceBlock(const LiveAllocation& allocation);
  void CountSegments(const Scope& scope, const std::vector<const Segments::Range*>& recognised);
  void CountForGraphs(Segments* segments);
  void ReportSegments(SiteIndex site);
  FrameworkShare ShareOf(const Scope& framework) const;
  Levels LevelsOfFramework(const Scope& scope) const;
  uint64_t LevelOfScope(const Scope& scope) const;
  void NoteLevel(Scope* scope);

  // Sums of the past (past.cc) and memory that only CUPTI reported (unseen_memory.cc).
  void FoldAllocate(const StreamEvent& event);
  void FoldFree(const StreamEvent& event);
  void MoveSum(const Sum& sum, uint64_t number, bool born);
  uint32_t StepsWithin(uint64_t ticks) const;
  void ApplyUnseen(uint64_t until);

  const Trace& trace_;
  LedgerOptions options_;
  bool keeps_place_ = false;
  std::unique_ptr<EventStream> stream_;                          // of a replay that can go on
  uint64_t undefined_stacks_ = 0;                                // sites whose stack was not defined anywhere
  std::vector<ReplayObserver*> on_allocate_, on_free_, on_sum_;  // those of options_.observers that want these calls
  StepClock clock_;
  std::vector<uint64_t> step_ends_;  // ticks
  LiveTable live_;
  MappedMemory mapped_;
  std::vector<RecentSite> recent_;
  SiteTable sites_;
  std::vector<Scope> scopes_;
  struct AddressRange {
    uint64_t end;
    SiteIndex site;
    bool holds_segments = false;  // of a framework's allocator
  };
  std::map<uint64_t, AddressRange> address_ranges_;  // by their beginning
  std::deque<Segments> segments_;                    // a deque, because scopes point to its entries
  bool has_graph_pools_ = false;
  absl::flat_hash_map<uint64_t, Sum> sums_;  // by StreamEvent::ordinal
  uint64_t steps_in_sums_ = 0;
  size_t next_unseen_ = 0;
  uint64_t unseen_ticks_ = UINT64_MAX;  // time of the next change of unseen memory
  const StreamEvent* present_event_ = nullptr;
  std::map<std::pair<StackIndex, uint64_t>, uint64_t> refused_frees_;
  uint64_t events_ = 0, unknown_frees_ = 0, unreadable_events_ = 0, last_ticks_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_LEDGER_H_
