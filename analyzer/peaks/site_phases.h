// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_SITE_PHASES_H_
#define ANALYZER_PEAKS_SITE_PHASES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Finds the phases of a training step that the objects of a site live through. A backward pass begins at the first
// allocation for a node of the graph; the steps of an optimizer are marked. Objects are identified by their ordinals:
// one that is older than the start of a phase has lived into it. Memory: a few words for each site and thread.
// Thread-compatible.
class SitePhases final : public ReplayObserver {
 public:
  struct Counts {
    uint64_t freed = 0;
    uint64_t into_backward = 0;   // of these, live when a backward pass began after their allocation
    uint64_t into_optimizer = 0;  // of these, live when an optimizer's step began after their allocation
    bool after_backward = false;  // the first was allocated after the first backward pass began
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
  bool IsNameOfOptimizer(uint32_t name) const;

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<StackIndex, bool> stacks_of_marks_;  // whether they are optimizers'
  IndexedVector<SiteIndex, Entry> sites_;
  // One more than the ordinal of a thread's last allocation: so far, and at the start of the last backward pass and of
  // the last optimizer's step.
  IndexedVector<ThreadSlot, uint64_t> next_, at_backward_, at_optimizer_;
  bool in_backward_ = false, seen_backward_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_SITE_PHASES_H_
