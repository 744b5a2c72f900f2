// SPDX-License-Identifier: Apache-2.0
//
// Replays the past of a trace of bounded size. It is kept as sums of objects that are allocated and freed together.
#include <algorithm>

#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

// More steps than any job makes: a damaged count must not keep the replay busy for ever.
constexpr uint64_t kMostStepsInSums = 1u << 24;

}  // namespace

uint32_t Ledger::StepsWithin(uint64_t ticks) const {
  const uint64_t since = last_ticks_ > ticks ? last_ticks_ - ticks : 0;
  return static_cast<uint32_t>(step_ends_.end() - std::lower_bound(step_ends_.begin(), step_ends_.end(), since));
}

void Ledger::FoldAllocate(const StreamEvent& event) {
  Sum sum;
  sum.objects = std::min<uint64_t>(event.value[0], INT32_MAX);
  sum.allocation.bytes = std::min(event.value[1], kMaxAllocationBytes);
  sum.allocation.site = SiteOf(event);
  for (uint64_t i = 0; i < sum.objects && steps_in_sums_ < kMostStepsInSums; ++i) {
    if (!clock_.OnAllocation(sum.allocation.site)) break;
    ++steps_in_sums_;
    EndStep();
  }
  sum.allocation.birth_step = clock_.step();
  Site& site = sites_.sites()[sum.allocation.site];
  site.allocations += sum.objects;
  site.bytes_allocated += sum.allocation.bytes;
  if (event.ordinal != 0) {
    sums_[event.ordinal] = sum;
    MoveSum(sum, event.ordinal, /*born=*/true);
    return;
  }
  site.frees += sum.objects;
  const ReplayAllocation brief = {ThreadSlot(0), 0, sum.allocation, site, nullptr, 0, 0, sum.objects, /*is_sum=*/true};
  for (ReplayObserver* observer : options_.observers) observer->OnBrief(brief, StepsWithin(event.value[2]));
}

void Ledger::FoldFree(const StreamEvent& event) {
  const auto found = sums_.find(event.ordinal);
  if (found == sums_.end()) return;  // counted with its birth
  const Sum sum = found->second;
  sums_.erase(found);
  sites_.sites()[sum.allocation.site].frees += sum.objects;
  MoveSum(sum, event.ordinal, /*born=*/false);
}

void Ledger::MoveSum(const Sum& sum, uint64_t number, bool born) {
  Site& site = sites_.sites()[sum.allocation.site];
  Scope* scope = site.scope == Site::kNoScope ? nullptr : &scopes_[site.scope];
  if (scope != nullptr) BeforeChange(&site);
  const uint64_t bytes = born ? sum.allocation.bytes : -sum.allocation.bytes;
  site.live_objects += born ? sum.objects : -sum.objects;
  site.live_bytes += bytes;
  if (scope != nullptr) {
    scope->live += bytes;
    if (scope->level == Level::kFramework) scope->folded += bytes;
    if (scope->is_device()) {
      if (born) {
        scope->pages.AddUnplaced(bytes);
      } else {
        scope->pages.RemoveUnplaced(sum.allocation.bytes);
      }
    }
    NoteLevel(scope);
    if (scope->live > scope->peak) RaisePeak(scope);
    ++scope->changes;
  }
  const ReplayAllocation change = {ThreadSlot(0),  number, sum.allocation, site, scope, 0, 0, sum.objects,
                                   /*is_sum=*/true};
  for (ReplayObserver* observer : on_sum_) {
    if (born) {
      observer->OnAllocate(change);
    } else {
      observer->OnFree(change);
    }
  }
}

}  // namespace vramtrack
