// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_SITE_PHASES_H_
#define ANALYZER_PEAKS_SITE_PHASES_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Which phases of a step of training what a site allocates lives through. A backward pass begins where something is
// first allocated for a node of the graph; an optimizer's step is marked. Objects are known by their ordinals: what is
// older than the last such moment has lived through it. Memory: a few words a site and a thread. Thread-compatible.
class SitePhases final : public ReplayObserver {
 public:
  struct Counts {
    uint64_t freed = 0;
    uint64_t into_backward = 0;   // of these, alive when a backward pass began after their birth
    uint64_t into_optimizer = 0;  // the same, an optimizer's step
    bool after_backward = false;  // the first was born after the first backward pass began
  };

  explicit SitePhases(const Trace& trace);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

  Counts Of(SiteIndex site) const { return sites_.Has(site) ? sites_[site].counts : Counts(); }

 private:
  struct Entry {
    Counts counts;
    bool known = false, in_backward = false;
  };

  Entry& EntryOf(SiteIndex site);
  bool IsOfOptimizer(StackIndex stack);

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::set<uint32_t> optimizer_names_;  // of marks
  std::map<StackIndex, bool> stacks_of_marks_;
  IndexedVector<SiteIndex, Entry> sites_;
  // One more than the ordinal of a thread's last allocation: so far, and at the two moments.
  IndexedVector<ThreadSlot, uint64_t> next_, at_backward_, at_optimizer_;
  bool in_backward_ = false, seen_backward_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_SITE_PHASES_H_
