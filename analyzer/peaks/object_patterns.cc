// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/object_patterns.h"

#include <algorithm>
#include <utility>

namespace vramtrack {

LateObjects::LateObjects(std::vector<LateGroup> groups, IndexedVector<SiteIndex, bool> in_optimizer)
    : groups_(std::move(groups)),
      in_optimizer_(std::move(in_optimizer)),
      results_(groups_.size()),
      sites_(in_optimizer_.size()),
      state_(groups_.size()) {
  for (uint16_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].scope >= scopes_.size()) scopes_.resize(groups_[i].scope + 1);
    scopes_[groups_[i].scope].groups.push_back(i);
    for (const SiteIndex site : groups_[i].sites) sites_[site].group = i;
  }
}

void LateObjects::OnStepEnd(uint32_t /*step*/) {
  for (ScopeState& scope : scopes_) {
    scope.past_boundary = false;
    scope.threshold = 0;
    for (const uint16_t i : scope.groups) state_[i].old = state_[i].live;
  }
}

void LateObjects::Allocated(SiteIndex site, uint64_t bytes) {
  const uint32_t index = ledger_->sites()[site].scope;
  if (index >= scopes_.size() || scopes_[index].groups.empty()) return;
  ScopeState& scope = scopes_[index];
  if (!scope.past_boundary && !in_optimizer_[site]) {
    scope.past_boundary = true;
    scope.threshold = 0;
  }
  if (const uint16_t group = sites_[site].group; group != kNone) {
    state_[group].live += bytes;
    sites_[site].last_birth = ledger_->steps().step();
  }
  const uint64_t live = ledger_->scopes()[index].live;
  if (live <= scope.threshold) return;
  uint64_t threshold = UINT64_MAX;
  for (const uint16_t i : scope.groups) {
    const uint64_t gone = GoneIn(scope, i);
    results_[i].most = std::max(results_[i].most, gone);
    results_[i].peak = std::max(results_[i].peak, live - gone);
    threshold = std::min(threshold, results_[i].peak + gone);
  }
  scope.threshold = threshold;
}

void LateObjects::Freed(const LiveAllocation& allocation) {
  const SiteState& site = sites_[allocation.site];
  if (site.group == kNone) return;
  GroupState& group = state_[site.group];
  group.live -= allocation.bytes;
  if (allocation.birth_step == ledger_->steps().step()) return;
  group.old -= allocation.bytes;
  ScopeState& scope = scopes_[ledger_->sites()[allocation.site].scope];
  scope.threshold = std::min(scope.threshold, results_[site.group].peak + GoneIn(scope, site.group));
  if (!scope.past_boundary) return;
  ++results_[site.group].objects;
  results_[site.group].replaced += site.last_birth == ledger_->steps().step();
}

// Of the past of a trace of bounded size the births are not told; what dies counts as old first.
void LateObjects::OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t bytes, bool born) {
  if (groups_.empty()) return;
  if (born) return Allocated(site, bytes);
  if (sites_[site].group == kNone) return;
  GroupState& group = state_[sites_[site].group];
  group.live -= bytes;
  group.old -= std::min(group.old, bytes);
  scopes_[ledger_->sites()[site].scope].threshold = 0;
}

ReusableMemory::ReusableMemory(const Ledger& first) : sites_(first.sites().size()) {
  for (const SiteIndex i : first.sites().indices()) {
    const Site& site = first.sites()[i];
    if (site.scope == Site::kNoScope || !IsDeviceRange(site.key.kind) || site.key.kind == schema::STREAM_ORDERED ||
        site.key.kind == schema::POOL || site.key.kind == schema::MAPPING) {
      continue;
    }
    const Scope& scope = first.scopes()[site.scope];
    if (scope.is_device() && scope.segments == nullptr) sites_[i].slots = &slots_[site.scope];
  }
}

void ReusableMemory::Take(const LiveAllocation& allocation, OfSite* site) {
  const size_t size = ClassOf(allocation.bytes);
  if (site->slots->free[size] == 0) {
    ++site->slots->made[size];
    return;
  }
  --site->slots->free[size];
  if (allocation.birth_step == 0) return;
  ++site->reusable.objects;
  site->reusable.bytes += allocation.bytes;
}

uint64_t ReusableMemory::Buffers(uint32_t scope) const {
  uint64_t buffers = 0;
  const auto slots = slots_.find(scope);
  if (slots == slots_.end()) return 0;
  for (const uint32_t made : slots->second.made) buffers += made;
  return buffers;
}

}  // namespace vramtrack
