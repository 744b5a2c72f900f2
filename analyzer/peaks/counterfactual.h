// SPDX-License-Identifier: Apache-2.0
//
// Computes the peak without one site's allocations: what a fix of that site would save. The bytes live at the peak do
// not show this, as another peak may be nearly as high.
#ifndef ANALYZER_PEAKS_COUNTERFACTUAL_H_
#define ANALYZER_PEAKS_COUNTERFACTUAL_H_

#include <cstddef>
#include <cstdint>
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
  size_t Watch(std::vector<SiteIndex> sites);
  bool watching() const { return !watched_.empty(); }

  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override {
    const Scope* scope = allocated.scope;
    if (scope != nullptr) Allocated(allocated.allocation.site, scope->index, allocated.allocation.bytes, scope->live);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (freed.scope != nullptr) Freed(freed.allocation.site, freed.scope->index, freed.allocation.bytes);
  }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override;

  // Returns the peak in bytes of the group's scope as if the group had allocated nothing.
  uint64_t PeakWithout(size_t group) const;

 private:
  static constexpr uint32_t kNoScope = UINT32_MAX;

  struct Group {
    uint64_t live = 0;
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

  // `live`: the scope's total after the allocation.
  void Allocated(SiteIndex site, uint32_t scope, uint64_t bytes, uint64_t live);
  void Freed(SiteIndex site, uint32_t scope, uint64_t bytes);
  void Settle(Total* total);

  // The groups of a site are memberships_[FirstOf(site)] to memberships_[FirstOf(site.Next()) - 1].
  uint32_t FirstOf(SiteIndex site) const {
    return first_.Has(site) ? first_[site] : first_.empty() ? 0 : first_.back();
  }

  const Ledger* ledger_ = nullptr;
  std::vector<std::vector<SiteIndex>> watched_;
  IndexedVector<SiteIndex, uint32_t> first_;
  std::vector<uint32_t> memberships_;
  std::vector<Group> groups_;
  std::vector<Total> totals_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_COUNTERFACTUAL_H_
