// SPDX-License-Identifier: Apache-2.0
//
// Replays the past of a trace of bounded size. It is kept as sums of objects that are allocated and freed together.
#include <algorithm>

#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

// More steps than any job makes: a damaged count must not keep the replay busy for ever.
constexpr uint64_t kMaxFoldedSteps = 1u << 24;

}  // namespace

uint32_t Ledger::StepsWithin(uint64_t ticks) const {
  const uint64_t since = last_ticks_ > ticks ? last_ticks_ - ticks : 0;
  return static_cast<uint32_t>(step_ends_.end() - std::lower_bound(step_ends_.begin(), step_ends_.end(), since));
}

void Ledger::FoldAllocate(const StreamEvent& event) {
  ReplayFold fold;
  fold.site = SiteOf(event);
  fold.objects = std::min<uint64_t>(event.value[0], INT32_MAX);
  fold.bytes = std::min(event.value[1], kMaxAllocationBytes);
  for (uint64_t i = 0; i < fold.objects && folded_steps_ < kMaxFoldedSteps; ++i) {
    if (!clock_.OnAllocation(fold.site)) break;
    ++folded_steps_;
    EndStep();
  }
  fold.birth_step = clock_.step();
  Site& site = sites_.sites()[fold.site];
  site.allocations += fold.objects;
  site.bytes_allocated += fold.bytes;
  if (event.ordinal == 0) {
    site.frees += fold.objects;
    const uint32_t lifetime = StepsWithin(event.value[2]);
    for (ReplayObserver* observer : options_.observers) observer->OnPastBrief(fold, lifetime);
    return;
  }
  folds_[event.ordinal] = fold;
  MoveFold(fold, /*born=*/true);
}

void Ledger::FoldFree(const StreamEvent& event) {
  const auto found = folds_.find(event.ordinal);
  if (found == folds_.end()) return;  // counted with its birth
  const ReplayFold fold = found->second;
  folds_.erase(found);
  sites_.sites()[fold.site].frees += fold.objects;
  MoveFold(fold, /*born=*/false);
}

void Ledger::MoveFold(const ReplayFold& fold, bool born) {
  Site& site = sites_.sites()[fold.site];
  Scope* scope = site.scope == Site::kNoScope ? nullptr : &scopes_[site.scope];
  if (scope != nullptr) BeforeChange(&site);
  const uint64_t bytes = born ? fold.bytes : -fold.bytes;
  site.live_objects += born ? fold.objects : -fold.objects;
  site.live_bytes += bytes;
  if (scope != nullptr) {
    scope->live += bytes;
    if (scope->level == Level::kFramework) scope->folded += bytes;
    if (scope->is_device()) {
      if (born) {
        scope->pages.AddUnplaced(fold.bytes);
      } else {
        scope->pages.RemoveUnplaced(fold.bytes);
      }
    }
    NoteLevel(scope);
    if (scope->live > scope->peak) RaisePeak(scope);
    ++scope->changes;
  }
  for (ReplayObserver* observer : options_.observers) {
    if (born) {
      observer->OnPastBirth(fold);
    } else {
      observer->OnPastDeath(fold);
    }
    if (scope != nullptr) observer->OnFold(fold.site, fold.objects, fold.bytes, born);
  }
}

}  // namespace vramtrack
