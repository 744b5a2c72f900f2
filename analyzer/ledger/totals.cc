// SPDX-License-Identifier: Apache-2.0
//
// Updates the sums of sites and scopes when memory is allocated or freed.
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// What is in live_ already.
void Ledger::Enter(const LiveAllocation& allocation, AllocationName name, uint64_t stream) {
  Site& site = sites_.sites()[allocation.site];
  ++site.allocations;
  site.bytes_allocated += allocation.bytes;
  Scope* scope = site.scope == Site::kNoScope ? nullptr : &scopes_[site.scope];
  if (scope != nullptr) {
    Raise(&site, scope, allocation, name);
  } else {
    ++site.live_objects;
    site.live_bytes += allocation.bytes;
  }
  if (on_allocate_.empty()) return;
  const ReplayAllocation told = {name.first, name.second, allocation, site, scope, stream};
  for (ReplayObserver* observer : on_allocate_) observer->OnAllocate(told);
}

void Ledger::Raise(Site* site, Scope* scope, const LiveAllocation& allocation, AllocationName name) {
  BeforeChange(site);
  ++site->live_objects;
  site->live_bytes += allocation.bytes;
  scope->live += allocation.bytes;
  if (scope->is_device()) {
    if (HasDeviceAddress(site->key.kind)) {
      scope->pages.Add(allocation.address, allocation.bytes);
    } else {
      scope->pages.AddUnplaced(allocation.bytes);
    }
  }
  if (__builtin_expect(scope->segments != nullptr, 0)) {
    if (scope->level == Level::kFramework) {
      PlaceBlock(allocation);
    } else if (IsDeviceRange(site->key.kind)) {
      EnterRange(allocation, allocation.site, name, /*mapped=*/false);
    }
    NoteLevel(scope);
  } else if (scope->live > scope->ceiling) {
    scope->ceiling = scope->live;
  }
  if (scope->live > scope->peak) RaisePeak(scope);
  ++scope->changes;
}

void Ledger::Vanish(const LiveAllocation& allocation, AllocationName name) {
  Site& site = sites_.sites()[allocation.site];
  Scope* scope = site.scope == Site::kNoScope ? nullptr : &scopes_[site.scope];
  uint64_t segment_bytes = 0;
  if (scope != nullptr) BeforeChange(&site);
  if (scope == nullptr) {
    if (__builtin_expect(site.key.kind == schema::MAPPING, 0)) segment_bytes = LeaveRange(allocation);
  } else if (__builtin_expect(scope->segments != nullptr, 0)) {
    if (scope->level == Level::kFramework) {
      scope->segments->RemoveBlock(allocation.address, allocation.bytes);
    } else if (IsDeviceRange(site.key.kind)) {
      segment_bytes = LeaveRange(allocation);
    }
  }
  ++site.frees;
  --site.live_objects;
  site.live_bytes -= allocation.bytes;
  if (scope != nullptr) {
    scope->live -= allocation.bytes;
    if (scope->is_device()) {
      if (HasDeviceAddress(site.key.kind)) {
        scope->pages.Remove(allocation.address, allocation.bytes);
      } else {
        scope->pages.RemoveUnplaced(allocation.bytes);
      }
    }
    if (scope->segments != nullptr) {
      NoteLevel(scope);
    } else if (scope->live < scope->floor) {
      scope->floor = scope->live;
    }
    ++scope->changes;
  }
  if (on_free_.empty()) return;
  const ReplayAllocation told = {name.first, name.second, allocation, site, scope, /*stream=*/0, segment_bytes};
  for (ReplayObserver* observer : on_free_) observer->OnFree(told);
}

void Ledger::RaisePeak(Scope* scope) {
  scope->peak = scope->live;
  scope->peak_change = scope->changes;
  ++scope->peak_epoch;
  scope->peak_moment = MomentOf(*scope);
}

Moment Ledger::MomentOf(const Scope& scope) const {
  Moment moment;
  moment.step = clock_.step();
  moment.ticks = last_ticks_;
  if (scope.is_device()) {
    moment.usage = scope.pages.usage();
  } else if (scope.segments != nullptr) {
    const FrameworkShare& share = moment.framework = ShareOf(scope);
    moment.usage.live = scope.live;
    moment.usage.reserved = scope.live + share.cached;
    moment.usage.free_pinned = share.cached - share.releasable;
    moment.device_used = share.UsedOnDevice(moment.usage.reserved);
    return moment;
  } else {
    moment.usage.live = moment.usage.reserved = scope.live;
  }
  moment.device_used = moment.usage.reserved + scope.outside;
  return moment;
}

void Ledger::NoteEnd() {
  for (Scope& scope : scopes_) scope.end_moment = MomentOf(scope);
  for (Site& site : sites_.sites()) {
    if (site.peak_scope < scopes_.size()) BeforeChange(&site);
  }
}

}  // namespace vramtrack
