// SPDX-License-Identifier: Apache-2.0
//
// Finds objects that a device's peak could do without, judged by allocations and frees alone. These do not show
// whether an object is still used, so this is evidence, not proof. docs/peaks.md has the definitions.
#ifndef ANALYZER_PEAKS_OBJECT_PATTERNS_H_
#define ANALYZER_PEAKS_OBJECT_PATTERNS_H_

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Sites whose objects live on into the next step, regularly or sometimes. LateObjects computes the peak of their
// device if they had been freed at the end of their step. Only for runs whose steps come from the job itself.
struct LateGroup {
  uint32_t scope = 0;
  std::vector<SiteIndex> sites;
};

// Computes exact peaks without late objects in a second replay. Memory: a few words for each site. Thread-compatible.
class LateObjects final : public ReplayObserver {
 public:
  struct Result {
    uint64_t peak = 0;      // peak of the scope if they had been freed
    uint64_t most = 0;      // the most bytes of them at a time
    uint64_t objects = 0;   // objects freed late
    uint64_t replaced = 0;  // of these, freed after their site had allocated again in that step
  };

  // No site is in two groups. `in_optimizer`: sites within an optimizer's step. Their allocations still belong to the
  // previous step, whose gradients the optimizer reads.
  LateObjects(std::vector<LateGroup> groups, IndexedVector<SiteIndex, bool> in_optimizer);

  unsigned frequent_calls() const override { return groups_.empty() ? 0 : kAllocations | kFrees; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Allocated(allocated.allocation.site, allocated.allocation.bytes);
  }
  void OnFree(const ReplayAllocation& freed) override { Freed(freed.allocation); }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;

  // Returns the results by group.
  const std::vector<Result>& results() const { return results_; }
  const std::vector<LateGroup>& groups() const { return groups_; }

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  struct SiteState {
    uint16_t group = kNone;
    uint32_t last_birth = UINT32_MAX;  // step of the site's latest allocation
  };
  struct GroupState {
    uint64_t live = 0;
    uint64_t old = 0;  // of these, allocated before the current step
  };
  struct ScopeState {
    bool past_boundary = true;  // a site outside the optimizer has allocated in this step
    uint64_t threshold = 0;     // no total up to this one is a record for any group
    std::vector<uint16_t> groups;
  };

  void Allocated(SiteIndex site, uint64_t bytes);
  void Freed(const LiveAllocation& allocation);
  uint64_t GoneIn(const ScopeState& scope, uint16_t group) const { return scope.past_boundary ? state_[group].old : 0; }

  const Ledger* ledger_ = nullptr;
  std::vector<LateGroup> groups_;
  IndexedVector<SiteIndex, bool> in_optimizer_;
  std::vector<Result> results_;
  IndexedVector<SiteIndex, SiteState> sites_;
  std::vector<GroupState> state_;
  std::vector<ScopeState> scopes_;
};

// Finds driver calls that a job could have avoided: allocations that would have fit into memory freed before, of the
// same size or up to a tenth larger. Uses interval colouring by size class. Follows a second replay; memory is fixed
// except for a few words for each site. Thread-compatible.
class ReusableMemory final : public ReplayObserver {
 public:
  struct Sum {
    uint64_t objects = 0, bytes = 0;
  };

  // `first`: the trace's first replay. Follows devices where the driver gives out memory that no framework's allocator
  // keeps.
  explicit ReusableMemory(const Ledger& first);

  unsigned frequent_calls() const override { return slots_.empty() ? 0 : kAllocations | kFrees; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    OfSite& site = sites_[allocated.allocation.site];
    if (site.slots != nullptr) Take(allocated.allocation, &site);
  }
  void OnFree(const ReplayAllocation& freed) override {
    Slots* const slots = sites_[freed.allocation.site].slots;
    if (slots != nullptr) ++slots->free[ClassOf(freed.allocation.bytes)];
  }

  // Returns what the site could have reused. In its first step a job has nothing to reuse.
  const Sum& reusable(SiteIndex site) const { return sites_[site].reusable; }
  // Returns how many buffers, one size class each, are enough for all of a scope's allocations.
  uint64_t Buffers(uint32_t scope) const;

 private:
  static constexpr size_t kClasses = 64 * 16;  // sixteen for each power of two

  struct Slots {
    std::array<uint32_t, kClasses> free{}, made{};
  };

  struct OfSite {
    Slots* slots = nullptr;  // null if it is not followed
    Sum reusable;
  };

  static size_t ClassOf(uint64_t bytes) {
    if (bytes < 16) return bytes;
    const int exponent = 63 - __builtin_clzll(bytes);
    return static_cast<size_t>(exponent) * 16 + (bytes >> (exponent - 4) & 15);
  }
  static void Take(const LiveAllocation& allocation, OfSite* site);

  std::map<uint32_t, Slots> slots_;  // by scope, of those with a site that is followed
  IndexedVector<SiteIndex, OfSite> sites_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_OBJECT_PATTERNS_H_
