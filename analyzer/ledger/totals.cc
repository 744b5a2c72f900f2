// SPDX-License-Identifier: Apache-2.0
//
// What an allocation and a free change: the table of live allocations, and the sums of sites and scopes. All of it is
// in one file, so that the compiler makes one function of each.
#include <algorithm>
#include <vector>

#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"
#include "proto/mappable.h"

namespace vramtrack {
namespace {

// Calls `call` for each observer. None is added while events are replayed, so the list is read once.
template <typename Call>
void CallAll(const std::vector<ReplayObserver*>& observers, Call call) {
  ReplayObserver* const* const end = observers.data() + observers.size();
  for (ReplayObserver* const* at = observers.data(); at != end; ++at) call(*at);
}

}  // namespace

inline void Ledger::Raise(Site* site, Scope* scope, const LiveAllocation& allocation, AllocationName name) {
  BeforeChange(site);
  ++site->live_objects;
  site->live_bytes += allocation.bytes;
  scope->live += allocation.bytes;
  if (scope->is_device()) {
    if (HasDeviceAddress(site->key.kind)) {
      scope->pages.Add(allocation.address(), allocation.bytes);
    } else {
      scope->pages.AddUnplaced(allocation.bytes);
    }
  }
  if (__builtin_expect(scope->segments != nullptr, 0)) {
    if (scope->level == Level::kFramework) {
      PlaceBlock(allocation);
    } else if (MayHoldBlocks(site->key.kind)) {
      EnterRange(allocation, allocation.site, name, /*mapping=*/{});
    }
    NoteLevel(scope);
  } else if (scope->live > scope->ceiling) {
    scope->ceiling = scope->live;
  }
  if (scope->live > scope->peak) RaisePeak(scope);
  ++scope->changes;
}

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
  const ReplayAllocation change = {name.first, name.second, allocation, site, scope, stream};
  CallAll(on_allocate_, [&change](ReplayObserver* observer) { observer->OnAllocate(change); });
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
      scope->segments->RemoveBlock(allocation.address(), allocation.bytes);
      if (__builtin_expect(has_graph_pools_, 0)) CountForGraphs(scope->segments);
    } else if (MayHoldBlocks(site.key.kind)) {
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
        scope->pages.Remove(allocation.address(), allocation.bytes);
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
  const ReplayAllocation change = {name.first, name.second, allocation, site, scope, /*stream=*/0, segment_bytes};
  CallAll(on_free_, [&change](ReplayObserver* observer) { observer->OnFree(change); });
}

void Ledger::OnAddressSpace(const StreamEvent& event, const LiveAllocation& allocation) {
  if (event.shape->kind == schema::ADDRESS_RANGE) {
    address_ranges_[event.address] = {event.address + allocation.bytes, allocation.site};
  } else if (event.shape->kind == schema::MAPPING) {
    const auto memory = mapped_.OnMap({event.slot, event.ordinal}, event.shape->stream);
    if (memory) EnterRange(allocation, memory->site, memory->name, allocation.site);
  }
}

// Flat: what it calls has hardly another caller.
__attribute__((flatten)) void Ledger::Allocate(const StreamEvent& event) {
  const SiteIndex index = __builtin_expect(*event.note != 0, 1) ? SiteIndex(*event.note - 1) : SiteOf(event);
  if (__builtin_expect(clock_.OnAllocation(index), 0)) EndStep();
  if (__builtin_expect(clock_.plan().at_inside, 0) && clock_.OnAllocationBy(sites_.sites()[index].key.stack)) {
    EndStep();
  }
  LiveAllocation *added, replaced;
  const bool is_taken = live_.Insert(event.slot, event.ordinal, &added, &replaced);
  LiveAllocation& allocation = *added;
  allocation.bytes = std::min(event.shape->bytes, kMaxAllocationBytes);
  allocation.SetPlace(event.device(), event.address);
  allocation.site = index;
  allocation.birth_step = clock_.step();
  if (__builtin_expect(is_taken, 0)) Vanish(replaced, {event.slot, event.ordinal});

  if (__builtin_expect(IsMappable(event.shape->kind), 0)) {
    mapped_.OnCreate({event.slot, event.ordinal}, event.address, index);
  }
  if (__builtin_expect(IsAddressSpace(event.shape->kind), 0)) OnAddressSpace(event, allocation);

  Enter(allocation, {event.slot, event.ordinal}, event.shape->stream);
}

__attribute__((flatten)) void Ledger::Free(const StreamEvent& event) {
  LiveAllocation allocation;
  if (__builtin_expect(!live_.Remove(event.owner, event.ordinal, &allocation), 0)) {
    ++unknown_frees_;
    return;
  }
  const AllocationName name = {event.owner, event.ordinal};
  const uint32_t kind = sites_.sites()[allocation.site].key.kind;
  if (__builtin_expect(IsMappable(kind) && mapped_.OnRelease(name, allocation), 0)) return;
  Vanish(allocation, name);
  if (__builtin_expect(IsAddressSpace(kind), 0)) {
    if (kind == schema::ADDRESS_RANGE) address_ranges_.erase(allocation.address());
    if (const auto ended = mapped_.OnUnmap(name)) Vanish(ended->allocation, ended->name);
  }
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
