// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_LATE_OBJECTS_H_
#define ANALYZER_PEAKS_LATE_OBJECTS_H_

#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Sites some of whose objects live on into a later step, and what their device would need without these.
struct LateGroup {
  uint32_t scope = 0;
  std::vector<SiteIndex> sites;
  uint64_t peak = 0;  // peak of the scope if each had been freed at the end of its step
  uint64_t live = 0;  // bytes now
  uint64_t old = 0;   // of these, allocated before the current step
};

// Computes exact peaks without late objects in a second replay. Allocations and frees do not show whether an object is
// still used, so this is evidence, not proof. Memory: a few words for each site. Thread-compatible.
class LateObjects final : public ReplayObserver {
 public:
  // No site is in two groups. `sites`: how many there are.
  LateObjects(std::vector<LateGroup> groups, size_t sites);

  unsigned frequent_calls() const override { return groups_.empty() ? 0 : kAllocations | kFrees; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Allocated(allocated.allocation.site, allocated.allocation.bytes);
  }
  void OnFree(const ReplayAllocation& freed) override;
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;

  const std::vector<LateGroup>& groups() const { return groups_; }

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  struct ScopeState {
    uint64_t threshold = 0;  // no total up to this one is a record for any group
    std::vector<uint16_t> groups;
  };

  void Allocated(SiteIndex site, uint64_t bytes);

  const Ledger* ledger_ = nullptr;
  std::vector<LateGroup> groups_;
  IndexedVector<SiteIndex, uint16_t> group_of_;
  std::vector<ScopeState> scopes_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_LATE_OBJECTS_H_
