// SPDX-License-Identifier: Apache-2.0
//
// Replays a trace: who holds how much, now and at the peak, and what each site did step by step. One pass, constant
// time an event; memory is bounded by live allocations, sites and steps, not by the trace.
#ifndef ANALYZER_LEDGER_LEDGER_H_
#define ANALYZER_LEDGER_LEDGER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/step_levels.h"
#include "analyzer/ledger/counterfactual.h"
#include "analyzer/ledger/live_table.h"
#include "analyzer/ledger/mapped_memory.h"
#include "analyzer/ledger/peak_window.h"
#include "analyzer/ledger/release_log.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/ledger/scope.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/ledger/step_clock.h"
#include "analyzer/ledger/timeline.h"
#include "analyzer/ledger/unseen_memory.h"
#include "analyzer/steps/regular_gaps.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {

struct LedgerOptions {
  bool histories = true;  // of sites, for their verdicts, and how alike steps are
  bool timeline = true;
  bool decode_ahead = false;  // in another thread; what is found is the same
  std::atomic<uint64_t>* replayed =
      nullptr;  // where events are counted while they are replayed; not owned, may be null
  // Told of every allocation; may be null.
  RegularGaps* gaps = nullptr;
  // Memory besides that of events; may be null, not owned. Where `gaps` is not null it only has sites.
  const UnseenMemory* unseen = nullptr;
  // Devices with the change that reached their peak (Scope::peak_change), for a bound on what that needed.
  std::map<uint32_t, uint64_t> peak_changes;
  // Groups of sites whose absence is played through, see peaks/counterfactual.h. Sites are numbered alike in every
  // replay.
  std::vector<std::vector<uint32_t>> watched;
  // Told of what is replayed, in this order; not owned.
  std::vector<ReplayObserver*> observers;
};

struct FrameworkCheck {
  uint64_t checks = 0, mismatches = 0;
  // The framework's figure less the ledger's, at the last check.
  int64_t given_out = 0, reserved = 0;
};

// Thread-compatible.
class Ledger {
 public:
  static constexpr size_t kMaxOutOfMemory = 32;  // the first and the last, with their holders; others are only counted
  static constexpr size_t kMaxHolders = 16;

  Ledger(const Trace& trace, StepPlan plan, LedgerOptions options = {});

  // Reads the whole stream of the trace.
  void Replay();

  const std::vector<Site>& sites() const { return sites_.sites(); }
  // Of the complete steps.
  SiteHistory history(uint32_t site) const { return histories_[site].Finish(clock_.step()); }
  // What it held at the ends of complete steps.
  StepLevels levels(uint32_t site) const;
  size_t level_changes(uint32_t site) const { return levels_[site].changes(); }
  // What it had allocated in all at steps of about 8, 16, 32, ... and at the end.
  std::vector<SiteBirths> births(uint32_t site) const;
  const std::vector<Scope>& scopes() const { return scopes_; }
  const StepClock& steps() const { return clock_; }
  // When each complete step ended, in ticks.
  const std::vector<uint64_t>& step_ends() const { return step_ends_; }
  // Of each complete step with those before it, see step_similarity.h.
  const std::vector<float>& step_similarities() const { return similarity_.similarities(); }
  bool timeline_in_steps() const { return timeline_in_steps_; }
  const Timeline& timeline() const { return timeline_; }
  const std::vector<OutOfMemory>& out_of_memory() const { return out_of_memory_; }
  // How often a framework told what it has given out and reserved, and how far the ledger was from that.
  const FrameworkCheck& framework_check() const { return framework_check_; }
  const ReleaseLog& releases() const { return releases_; }
  const Counterfactual& counterfactual() const { return counterfactual_; }
  // By device; only those of LedgerOptions::peak_changes.
  const std::map<uint32_t, PeakWindow>& peak_windows() const { return peak_windows_; }

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
  Levels LevelsOf(const Scope& scope) const;

  // Of PyTorch's pinned-memory pool, which is one site: how often it grew, by the distinct stack that made it grow.
  const std::map<uint32_t, uint64_t>& pinned_pool_growth() const { return pinned_pool_growth_; }

  uint64_t events() const { return events_; }
  uint64_t out_of_memory_count() const { return out_of_memory_count_; }
  uint64_t unknown_frees() const { return unknown_frees_; }
  uint64_t unreadable_events() const { return unreadable_events_; }
  uint64_t live_objects() const { return live_.size(); }
  uint64_t last_ticks() const { return last_ticks_; }

 private:
  // A site that was looked up before, by what an event says of it.
  struct RecentSite {
    uint64_t key = UINT64_MAX;
    uint32_t site = 0;
  };
  static constexpr size_t kRecentSites = 4096;

  using AllocationName = std::pair<uint32_t, uint64_t>;  // slot and ordinal

  // Allocations of the past of a trace of bounded size that share their births and deaths.
  struct Fold {
    uint32_t site = 0, birth_step = 0;
    uint64_t objects = 0, bytes = 0;
  };
  // More steps than any job makes: a damaged count must not keep the replay busy for ever.
  static constexpr uint64_t kMaxFoldedSteps = 1u << 24;

  void MoveClock(uint64_t time);
  void Apply(const StreamEvent& event);
  void ApplyUnseen(uint64_t until);
  void CountPast();
  void FoldAllocate(const StreamEvent& event);
  void FoldFree(const StreamEvent& event);
  void MoveFold(const Fold& fold, bool born);
  uint32_t StepsWithin(uint64_t ticks) const;
  void NoteBirth(Site* site, uint32_t index, uint64_t bytes, uint32_t objects = 1);
  void SettleLevel(Site* site, uint32_t index);
  void NoteDeath(Site* site, const LiveAllocation& allocation, uint32_t objects = 1);
  void SettleActivity(Site* site, uint32_t index);
  void Allocate(const StreamEvent& event);
  void Enter(const LiveAllocation& allocation, AllocationName name, uint64_t stream);
  void Free(const StreamEvent& event);
  void Vanish(const LiveAllocation& allocation, AllocationName name);
  void Fail(const StreamEvent& event);
  void ForgetRetry(const StreamEvent& event);
  void SettleFailures();
  void AddOutOfMemory(OutOfMemory failed);
  void FindHolders(const Scope& driver, OutOfMemory* failed) const;
  OutOfMemory::Framework FrameworkAt(const Scope& framework) const;
  void TellMemory(const StreamEvent& event);
  void EndStep(bool past);
  void AddFrameworkLevels();
  void EnterRange(const LiveAllocation& allocation, uint32_t site, AllocationName memory, bool mapped);
  void LeaveRange(const LiveAllocation& allocation);
  uint64_t SegmentBytes() const;
  void NoteRelease(uint32_t slot, uint64_t bytes);
  void PlaceBlock(const LiveAllocation& allocation);
  void CheckFramework(const StreamEvent& event);
  FrameworkShare ShareOf(const Scope& framework) const;
  uint64_t LevelOfScope(const Scope& scope) const;
  void NoteLevel(Scope* scope);
  void Raise(Site* site, Scope* scope, const LiveAllocation& allocation, AllocationName name);
  // The window that the scope's present change belongs to; usually null.
  PeakWindow* WindowOf(const Scope& scope);
  void Record(const Scope& scope);
  void RaisePeak(Scope* scope);
  Moment MomentOf(const Scope& scope) const;
  uint32_t SiteOf(const StreamEvent& event);
  uint32_t StackOf(const StreamEvent& event, uint32_t kind) const;
  uint32_t FindSite(const SiteKey& key);
  uint32_t NewSite(const SiteKey& key, uint32_t index);
  uint32_t ScopeOf(Level level, uint32_t device);

  const Trace& trace_;
  LedgerOptions options_;
  StepClock clock_;
  StepSimilarity similarity_;
  LiveTable live_;
  MappedMemory mapped_;
  std::vector<RecentSite> recent_;
  SiteTable sites_;
  std::deque<SiteHistoryBuilder> histories_;  // stay where they are
  std::deque<StepLevelsBuilder> levels_;      // as histories_
  std::vector<Scope> scopes_;
  std::deque<Segments> segments_;  // stay where they are
  bool has_graph_pools_ = false;
  std::map<uint32_t, uint64_t> pinned_pool_growth_;
  FrameworkCheck framework_check_;
  ReleaseLog releases_;
  bool timeline_in_steps_;
  Timeline timeline_;
  Counterfactual counterfactual_;
  std::map<uint32_t, PeakWindow> peak_windows_;
  std::vector<OutOfMemory> out_of_memory_;
  // By slot: calls of the driver that failed where a framework's allocator may try again, or give up itself.
  std::map<uint32_t, std::pair<uint32_t, OutOfMemory>> pending_failures_;  // kind, and what failed
  struct Told {
    uint32_t slot = UINT32_MAX, device = 0;
    uint64_t given_out = 0, reserved = 0;
  };
  Told told_;                                  // what a framework's allocator told last
  absl::flat_hash_map<uint64_t, Fold> folds_;  // by StreamEvent::ordinal
  std::vector<uint64_t> step_ends_;            // ticks
  uint64_t folded_steps_ = 0;
  size_t next_unseen_ = 0;
  const StreamEvent* present_event_ = nullptr;
  uint64_t unseen_ticks_ = UINT64_MAX;  // when the next change of unseen memory is
  uint64_t events_ = 0, out_of_memory_count_ = 0, unknown_frees_ = 0, unreadable_events_ = 0, last_ticks_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_LEDGER_H_
