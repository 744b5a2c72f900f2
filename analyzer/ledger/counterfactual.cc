// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/counterfactual.h"

#include <algorithm>
#include <utility>

namespace vramtrack {

Counterfactual::Counterfactual(const std::vector<std::vector<uint32_t>>& groups) : groups_(groups.size()) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // site and group
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const uint32_t site : groups[i]) pairs.emplace_back(site, static_cast<uint32_t>(i));
  }
  if (pairs.empty()) return;
  std::sort(pairs.begin(), pairs.end());
  first_.resize(pairs.back().first + size_t{2});
  for (const auto& [site, group] : pairs) {
    ++first_[site + size_t{1}];
    memberships_.push_back(group);
  }
  for (size_t site = 1; site < first_.size(); ++site) first_[site] += first_[site - 1];
}

void Counterfactual::OnAllocate(uint32_t site, uint32_t scope_index, uint64_t bytes, uint64_t live) {
  if (scope_index >= scopes_.size()) scopes_.resize(scope_index + 1);
  Scope& scope = scopes_[scope_index];
  for (uint32_t i = FirstOf(site), end = FirstOf(site + 1); i < end; ++i) {
    const uint32_t index = memberships_[i];
    Group& group = groups_[index];
    if (group.scope == kNoScope) {
      group.scope = scope_index;
      group.peak = std::max(scope.peak, live - bytes);
      scope.groups.push_back(index);
      scope.threshold = 0;
    }
    group.live += bytes;
  }
  scope.peak = std::max(scope.peak, live);
  if (live > scope.threshold) scope.risen = live;
}

void Counterfactual::Settle(Scope* scope) {
  uint64_t threshold = UINT64_MAX;
  for (const uint32_t i : scope->groups) {
    Group& group = groups_[i];
    group.peak = std::max(group.peak, scope->risen - group.live);
    threshold = std::min(threshold, group.peak + group.live);
  }
  scope->threshold = threshold;
  scope->risen = 0;
}

uint64_t Counterfactual::PeakWithout(size_t group) const {
  const Group& of = groups_[group];
  if (of.scope == kNoScope) return of.peak;
  const uint64_t risen = scopes_[of.scope].risen;
  return risen > 0 ? std::max(of.peak, risen - of.live) : of.peak;
}

void Counterfactual::OnFree(uint32_t site, uint32_t scope_index, uint64_t bytes) {
  if (scope_index < scopes_.size() && scopes_[scope_index].risen > 0) Settle(&scopes_[scope_index]);
  for (uint32_t i = FirstOf(site), end = FirstOf(site + 1); i < end; ++i) {
    Group& group = groups_[memberships_[i]];
    group.live -= bytes;
    Scope& scope = scopes_[scope_index];
    scope.threshold = std::min(scope.threshold, group.peak + group.live);
  }
}

}  // namespace vramtrack
