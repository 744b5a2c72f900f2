// SPDX-License-Identifier: Apache-2.0
//
// Objects that need not be there when a device holds most, as far as allocations and frees alone tell: whether an
// object is still used nobody knows from them, so this is evidence and no proof. docs/peaks.md has the definitions.
#ifndef ANALYZER_PEAKS_OBJECT_PATTERNS_H_
#define ANALYZER_PEAKS_OBJECT_PATTERNS_H_

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Sites whose objects regularly live on into the next step, or now and then, and what the peak of their device would be
// had they been freed where their step ends. Only for runs whose steps are known from the job itself.
struct LateGroup {
  uint32_t scope = 0;
  std::vector<SiteIndex> sites;
};

// Exact: follows a second replay. Memory: a few words a site. Thread-compatible.
class LateObjects final : public ReplayObserver {
 public:
  struct Result {
    uint64_t peak = 0;      // of the scope, had they been freed
    uint64_t most = 0;      // bytes of them at a time
    uint64_t objects = 0;   // freed late
    uint64_t replaced = 0;  // of these, after their site had allocated again in that step
  };

  // No site is in two groups. `in_optimizer`: what an optimizer's step allocates still belongs to the step
  // before, whose gradients it reads.
  LateObjects(std::vector<LateGroup> groups, IndexedVector<SiteIndex, bool> in_optimizer);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (!groups_.empty()) Allocated(allocated.allocation.site, allocated.allocation.bytes);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (!groups_.empty()) Freed(freed.allocation);
  }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;

  // By group.
  const std::vector<Result>& results() const { return results_; }
  const std::vector<LateGroup>& groups() const { return groups_; }

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  struct SiteState {
    uint16_t group = kNone;
    uint32_t last_birth = UINT32_MAX;  // a step
  };
  struct GroupState {
    uint64_t live = 0;
    uint64_t old = 0;  // of these, born before the present step
  };
  struct ScopeState {
    bool past_boundary = true;  // something other than an optimizer has allocated in this step
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

// Calls of the driver that a job could have spared: an allocation for which there was room in what it had freed before,
// of the same size or up to a tenth larger. Interval colouring by classes of size. Follows a second replay; memory is
// fixed but for a few words a site. Thread-compatible.
class ReusableMemory final : public ReplayObserver {
 public:
  // Only in these scopes; in the first step a job has nothing to reuse.
  explicit ReusableMemory(const std::vector<bool>& followed) : followed_(followed), slots_(followed.size()) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;

  struct Sum {
    uint64_t objects = 0, bytes = 0;
  };
  // May be shorter than the list of sites.
  const IndexedVector<SiteIndex, Sum>& reusable() const { return reusable_; }
  // Buffers of a size class that are enough for all of a scope's allocations.
  uint64_t Buffers(uint32_t scope) const;

 private:
  static constexpr size_t kClasses = 64 * 16;  // by sixteenths of a power of two

  struct Slots {
    std::array<uint32_t, kClasses> free{}, made{};
  };

  static size_t ClassOf(uint64_t bytes);
  Slots* SlotsOf(SiteIndex site);

  const Ledger* ledger_ = nullptr;
  std::vector<bool> followed_;
  std::vector<std::vector<Slots>> slots_;  // one where followed
  IndexedVector<SiteIndex, Sum> reusable_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_OBJECT_PATTERNS_H_
