// SPDX-License-Identifier: Apache-2.0
//
// Records the order in which leaked objects are allocated within a step, and in which they are freed when the job
// ends: objects of one owner are freed together.
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack {

// Follows groups of sites through a replay. Memory: a few words for each group, and one for each of their objects that
// is freed after the last complete step. Thread-compatible.
class LeakOrder : public ReplayObserver {
 public:
  struct Watched {
    std::vector<SiteIndex> sites;
    // steps in which survivors were allocated, ascending; allocations in other steps do not count
    std::vector<uint32_t> steps;
  };
  // No site is in two groups. `complete_steps`: number of complete steps of the run.
  LeakOrder(const std::vector<Watched>& groups, uint32_t complete_steps);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;

  // Returns whether `a` allocates later than `b` in the job's loop. The loop need not begin where a step does: an input
  // that is loaded after the optimizer's call is the next step's. So the first and the last allocation of both in the
  // run decide if they agree. Otherwise the last step decides in which both left survivors; if a step ends between the
  // two, one of them may be one step later.
  bool BornLater(size_t a, size_t b) const;

  // Returns how many objects older than a step were freed after the last complete step.
  size_t ReleasedAtEnd(size_t group) const { return groups_[group].released.size(); }
  // Returns whether anything was freed after the last allocation, as a job does that cleans up at its end.
  bool CleanedUp() const { return frees_since_allocation_ > 0; }

  enum class Release {
    kUnknown,   // too few objects of one of them were freed, or the order is not clear
    kTogether,  // alternately, as by an owner of both for each step
    kApart,     // one group after the other, as by two owners
  };
  // Returns how the objects of both groups were freed at the end.
  Release ReleaseOf(size_t a, size_t b) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Group {
    std::vector<uint32_t> steps;               // a few, ascending
    std::vector<uint64_t> births;              // latest allocation in each of these steps, as an event; 0: none yet
    std::vector<uint64_t> released;            // events, ascending
    uint64_t first_birth = 0, last_birth = 0;  // events, in any step; 0: none
  };

  size_t GroupOf(SiteIndex site) const { return group_of_.Has(site) ? group_of_[site] : kNone; }

  IndexedVector<SiteIndex, uint32_t> group_of_;
  std::vector<Group> groups_;
  uint32_t complete_steps_;
  const Ledger* ledger_ = nullptr;
  uint64_t event_ = 0, frees_since_allocation_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_
