// SPDX-License-Identifier: Apache-2.0
//
// Computes the peak without one site's allocations, or without those that outlive their step: what a fix of that site
// would save. The bytes live at the peak do not show this, as another peak may be nearly as high.
#ifndef ANALYZER_PEAKS_COUNTERFACTUAL_H_
#define ANALYZER_PEAKS_COUNTERFACTUAL_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Watches groups of sites during a replay; the sites of a group count to the same total. The result is exact. An event
// costs one comparison, except a free after a new record of a group: during allocations alone, the live bytes without
// a group never decrease. A site may be in several groups, such as a leak's line and the whole leak. One object serves
// all groups of a replay. Thread-compatible.
class Counterfactual final : public ReplayObserver {
 public:
  // Adds a group of a few sites, before the replay. Their indices are the same in every replay of the trace. Returns
  // the group's number.
  size_t Watch(std::vector<SiteIndex> sites) { return Watch(std::move(sites), /*late=*/false); }
  // The same for a group whose objects are taken away only from the end of their step on. Allocations and frees do not
  // show whether an object is still used, so this is evidence, not proof.
  size_t WatchLate(std::vector<SiteIndex> sites) { return Watch(std::move(sites), /*late=*/true); }
  bool watching() const { return !watched_.empty(); }

  void OnBegin(const Ledger& ledger) override;
  unsigned frequent_calls() const override { return kAll; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    const Scope* scope = allocated.scope;
    if (scope != nullptr) Allocated(allocated.allocation.site, scope->index, allocated.allocation.bytes, scope->live);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (freed.scope == nullptr) return;
    Freed(freed.allocation.site, freed.scope->index, freed.allocation.bytes,
          freed.allocation.birth_step == ledger_->steps().step());
  }
  void OnStepEnd(uint32_t step) override;

  // Returns the peak in bytes of the group's scope without the group.
  uint64_t PeakWithout(size_t group) const;

 private:
  static constexpr uint32_t kNoScope = UINT32_MAX;

  struct Group {
    bool late = false;
    uint64_t live = 0;          // bytes that are taken away
    uint64_t fresh = 0;         // late: bytes of the current step, which are not
    uint64_t peak = 0;          // peak of its scope without the group
    uint32_t scope = kNoScope;  // known from its first allocation on
  };
  struct Total {                   // the total of a scope
    uint64_t peak = 0;             // peak with all sites
    std::vector<uint32_t> groups;  // groups that allocated in the scope
    // No total up to this one is a record for any group. It may be lower than necessary, never higher.
    uint64_t threshold = 0;
    uint64_t risen = 0;  // live bytes after allocations that groups have not processed yet; 0 if there are none
  };

  size_t Watch(std::vector<SiteIndex> sites, bool late);
  // `live`: the scope's total after the allocation.
  void Allocated(SiteIndex site, uint32_t scope, uint64_t bytes, uint64_t live);
  void Freed(SiteIndex site, uint32_t scope, uint64_t bytes, bool in_its_step);
  void Settle(Total* total);

  const std::vector<uint32_t>& GroupsOf(SiteIndex site) const {
    static const std::vector<uint32_t> kNone;
    return groups_of_.Has(site) ? groups_of_[site] : kNone;
  }

  const Ledger* ledger_ = nullptr;
  std::vector<std::vector<SiteIndex>> watched_;
  IndexedVector<SiteIndex, std::vector<uint32_t>> groups_of_;
  std::vector<Group> groups_;
  std::vector<uint32_t> late_;  // the groups that are
  std::vector<Total> totals_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_COUNTERFACTUAL_H_
