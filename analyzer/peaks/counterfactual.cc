// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/counterfactual.h"

#include <algorithm>

namespace vramtrack {

Counterfactual::Counterfactual(const std::vector<std::vector<uint32_t>>& groups) : groups_(groups.size()) {
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const uint32_t site : groups[i]) {
      if (site >= group_of_.size()) group_of_.resize(site + 1, kNone);
      group_of_[site] = static_cast<uint32_t>(i);
    }
  }
}

void Counterfactual::OnAllocate(uint32_t site, uint32_t scope_index, uint64_t bytes, uint64_t live) {
  if (scope_index >= scopes_.size()) scopes_.resize(scope_index + 1);
  Scope& scope = scopes_[scope_index];
  if (const uint32_t index = GroupOf(site); index != kNone) {
    Group& group = groups_[index];
    if (!group.joined) {
      group.joined = true;
      group.peak = std::max(scope.peak, live - bytes);
      scope.groups.push_back(index);
      scope.threshold = 0;
    }
    group.live += bytes;
  }
  scope.peak = std::max(scope.peak, live);
  if (live <= scope.threshold) return;
  uint64_t threshold = UINT64_MAX;
  for (const uint32_t i : scope.groups) {
    Group& group = groups_[i];
    group.peak = std::max(group.peak, live - group.live);
    threshold = std::min(threshold, group.peak + group.live);
  }
  scope.threshold = threshold;
}

void Counterfactual::OnFree(uint32_t site, uint32_t scope_index, uint64_t bytes) {
  const uint32_t index = GroupOf(site);
  if (index == kNone) return;
  Group& group = groups_[index];
  group.live -= bytes;
  Scope& scope = scopes_[scope_index];
  scope.threshold = std::min(scope.threshold, group.peak + group.live);
}

}  // namespace vramtrack
