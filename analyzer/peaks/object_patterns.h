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
  // `followed`: by scope, whether to follow it. In its first step a job has nothing to reuse.
  explicit ReusableMemory(const std::vector<bool>& followed) : followed_(followed), slots_(followed.size()) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;

  struct Sum {
    uint64_t objects = 0, bytes = 0;
  };
  // Returns the sums by site; may be shorter than the list of sites.
  const IndexedVector<SiteIndex, Sum>& reusable() const { return reusable_; }
  // Returns how many buffers, one size class each, are enough for all of a scope's allocations.
  uint64_t Buffers(uint32_t scope) const;

 private:
  static constexpr size_t kClasses = 64 * 16;  // sixteen for each power of two

  struct Slots {
    std::array<uint32_t, kClasses> free{}, made{};
  };

  static size_t ClassOf(uint64_t bytes);
  Slots* SlotsOf(SiteIndex site);

  const Ledger* ledger_ = nullptr;
  std::vector<bool> followed_;
  std::vector<std::vector<Slots>> slots_;  // by scope; one entry if it is followed
  IndexedVector<SiteIndex, Sum> reusable_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_OBJECT_PATTERNS_H_
