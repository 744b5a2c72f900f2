// SPDX-License-Identifier: Apache-2.0
//
// In which order what leaks is born within a step, and in which it is given back when the job ends: what one owner
// holds is given back together.
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack {

// Follows some groups of sites through a replay. Memory: a few words a group, and one for each of their objects that is
// freed after the last complete step. Thread-compatible.
class LeakOrder : public ReplayObserver {
 public:
  struct Watched {
    std::vector<SiteIndex> sites;
    std::vector<uint32_t> steps;  // with survivors, ascending: births of other steps do not count
  };
  // No site is in two groups. `complete_steps`: of the run.
  LeakOrder(const std::vector<Watched>& groups, uint32_t complete_steps);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;

  // Whether what stays of `a` was born later than what stays of `b` when both did last. Where steps are cut between the
  // two, one of them is a step behind.
  bool BornLater(size_t a, size_t b) const;

  // How many objects that were older than a step were given back after the last complete step.
  size_t ReleasedAtEnd(size_t group) const { return groups_[group].released.size(); }
  // Whether anything was given back after the last allocation: the job has cleaned up behind itself.
  bool CleanedUp() const { return frees_since_allocation_ > 0; }

  enum class Release {
    kUnknown,   // not both of them were
    kTogether,  // in turn, as an owner of both for each step does
    kApart,     // one after the other, as two owners do
  };
  // How the objects of both were given back at the end.
  Release ReleaseOf(size_t a, size_t b) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Group {
    std::vector<uint32_t> steps;     // a few, ascending
    std::vector<uint64_t> births;    // the latest event of each; 0: none yet
    std::vector<uint64_t> released;  // events, ascending
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
