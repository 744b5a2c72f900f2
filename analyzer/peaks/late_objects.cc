// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/late_objects.h"

#include <algorithm>
#include <utility>

namespace vramtrack {

LateObjects::LateObjects(std::vector<LateGroup> groups, size_t sites)
    : groups_(std::move(groups)), group_of_(sites, kNone) {
  for (uint16_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].scope >= scopes_.size()) scopes_.resize(groups_[i].scope + 1);
    scopes_[groups_[i].scope].groups.push_back(i);
    for (const SiteIndex site : groups_[i].sites) group_of_[site] = i;
  }
}

void LateObjects::OnStepEnd(uint32_t /*step*/) {
  for (ScopeState& scope : scopes_) scope.threshold = 0;
  for (LateGroup& group : groups_) group.old = group.live;
}

void LateObjects::Allocated(SiteIndex site, uint64_t bytes) {
  const uint32_t index = ledger_->sites()[site].scope;
  if (index >= scopes_.size() || scopes_[index].groups.empty()) return;
  ScopeState& scope = scopes_[index];
  if (group_of_[site] != kNone) groups_[group_of_[site]].live += bytes;
  const uint64_t live = ledger_->scopes()[index].live;
  if (live <= scope.threshold) return;
  uint64_t threshold = UINT64_MAX;
  for (const uint16_t i : scope.groups) {
    LateGroup& group = groups_[i];
    group.peak = std::max(group.peak, live - group.old);
    threshold = std::min(threshold, group.peak + group.old);
  }
  scope.threshold = threshold;
}

void LateObjects::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  if (group_of_[allocation.site] == kNone) return;
  LateGroup& group = groups_[group_of_[allocation.site]];
  group.live -= allocation.bytes;
  if (allocation.birth_step == ledger_->steps().step()) return;
  group.old -= allocation.bytes;
  ScopeState& scope = scopes_[group.scope];
  scope.threshold = std::min(scope.threshold, group.peak + group.old);
}

// Of the past of a trace of bounded size the births are not told; what dies counts as old first.
void LateObjects::OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t bytes, bool born) {
  if (groups_.empty()) return;
  if (born) return Allocated(site, bytes);
  if (group_of_[site] == kNone) return;
  LateGroup& group = groups_[group_of_[site]];
  group.live -= bytes;
  group.old -= std::min(group.old, bytes);
  scopes_[group.scope].threshold = 0;
}

}  // namespace vramtrack
