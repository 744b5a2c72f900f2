// SPDX-License-Identifier: Apache-2.0
//
// Records in which order sites allocate within a step, and in which order their objects are freed when the job ends.
#ifndef ANALYZER_LEDGER_SITE_ORDER_H_
#define ANALYZER_LEDGER_SITE_ORDER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Events are numbered from 1: allocations and frees in the order of the replay. Memory: a few words for each site, some
// more for sites that allocate in several steps, and one for each object that was freed since the last complete step.
// Thread-compatible.
class SiteOrder final : public ReplayObserver {
 public:
  // The last allocation of a site in a step.
  struct Birth {
    uint32_t step = 0;
    uint64_t event = 0;  // 0: none
  };
  static constexpr size_t kStepsKept = 8;

  struct SiteBirths {
    uint64_t first = 0, last = 0;  // events; 0: none
    // Of the latest steps in which the site allocated, in no order; without those after which it held nothing.
    std::array<Birth, kStepsKept> latest{};
  };
  // Returns what is known of a site's allocations. `latest` is empty for a site that kept something in few steps
  // only.
  SiteBirths BirthsOf(SiteIndex site) const;

  // An object that was older than a step and was freed after the last complete step.
  struct Release {
    uint64_t event = 0;
    uint64_t allocations = 0;  // since that step, before it was freed
    SiteIndex site;
  };
  const std::vector<Release>& released() const { return released_; }  // by event
  // Returns how often memory was allocated after the last complete step; in the whole run if there is none. Handles do
  // not count: freeing a block may take an event.
  uint64_t allocations_after_steps() const { return allocations_after_steps_; }
  // Returns the time, in ticks, of the last allocation, or of the first release after the last complete step if that
  // was later. How long a process takes to end is not in it.
  uint64_t active_until() const { return std::max(last_allocation_ticks_, first_release_ticks_); }
  // Returns whether anything was freed after the last allocation, as a job does that cleans up at its end.
  bool CleanedUp() const { return last_event_ > last_allocation_; }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    last_allocation_ = ++last_event_;
    last_allocation_ticks_ = ledger_->last_ticks();
    allocations_after_steps_ += allocated.allocation.bytes > 0;
    const SiteIndex site = allocated.allocation.site;
    sites_.GrowTo(site);
    Entry& entry = sites_[site];
    if (__builtin_expect(entry.step != allocated.allocation.birth_step, 0)) {
      BeginStep(&entry, allocated.allocation.birth_step, /*keeps=*/allocated.site.live_objects > 1);
    }
    entry.last = last_event_;
  }
  void OnFree(const ReplayAllocation& freed) override {
    ++last_event_;
    if (__builtin_expect(freed.allocation.birth_step + 1 < ledger_->steps().step(), 0)) {
      if (released_.empty()) first_release_ticks_ = ledger_->last_ticks();
      released_.push_back({last_event_, allocations_after_steps_, freed.allocation.site});
    }
  }
  void OnStepEnd(uint32_t /*step*/) override {
    released_.clear();
    allocations_after_steps_ = first_release_ticks_ = 0;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // A site that kept something in fewer steps has no order that anybody asks for.
  static constexpr uint32_t kFewSteps = 3;

  struct Entry {
    uint64_t first = 0, last = 0;
    uint32_t step = kNone;    // of the last allocation
    uint32_t steps = 0;       // in which it kept something so far, up to kFewSteps
    uint32_t latest = kNone;  // index into latest_
  };
  struct Latest {
    std::array<Birth, kStepsKept> births{};  // of steps that have ended for the site
    size_t next = 0;
  };

  // `keeps`: whether the site holds anything from before.
  void BeginStep(Entry* entry, uint32_t step, bool keeps);

  const Ledger* ledger_ = nullptr;
  IndexedVector<SiteIndex, Entry> sites_;
  std::deque<Latest> latest_;
  std::vector<Release> released_;
  uint64_t last_event_ = 0, last_allocation_ = 0, allocations_after_steps_ = 0;
  uint64_t last_allocation_ticks_ = 0, first_release_ticks_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SITE_ORDER_H_
