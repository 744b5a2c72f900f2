// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/counterfactual.h"

#include <algorithm>
#include <utility>

namespace vramtrack {

size_t Counterfactual::Watch(std::vector<SiteIndex> sites, bool late) {
  if (late) late_.push_back(static_cast<uint32_t>(watched_.size()));
  watched_.push_back(std::move(sites));
  return watched_.size() - 1;
}

void Counterfactual::OnBegin(const Ledger& ledger) {
  ledger_ = &ledger;
  groups_.resize(watched_.size());
  for (const uint32_t group : late_) groups_[group].late = true;
  for (size_t i = 0; i < watched_.size(); ++i) {
    for (const SiteIndex site : watched_[i]) {
      groups_of_.GrowTo(site);
      groups_of_[site].push_back(static_cast<uint32_t>(i));
    }
  }
}

void Counterfactual::OnStepEnd(uint32_t /*step*/) {
  if (late_.empty()) return;
  for (Total& total : totals_) {
    if (total.risen > 0) Settle(&total);
  }
  for (const uint32_t group : late_) groups_[group].live += std::exchange(groups_[group].fresh, 0);
}

void Counterfactual::Allocated(SiteIndex site, uint32_t scope_index, uint64_t bytes, uint64_t live) {
  if (scope_index >= totals_.size()) totals_.resize(scope_index + 1);
  Total& total = totals_[scope_index];
  for (const uint32_t index : GroupsOf(site)) {
    Group& group = groups_[index];
    if (group.scope == kNoScope) {
      group.scope = scope_index;
      group.peak = std::max(total.peak, live - bytes);
      total.groups.push_back(index);
      total.threshold = 0;
    }
    (group.late ? group.fresh : group.live) += bytes;
  }
  total.peak = std::max(total.peak, live);
  if (live > total.threshold) total.risen = live;
}

void Counterfactual::Settle(Total* total) {
  uint64_t threshold = UINT64_MAX;
  for (const uint32_t i : total->groups) {
    Group& group = groups_[i];
    group.peak = std::max(group.peak, total->risen - group.live);
    threshold = std::min(threshold, group.peak + group.live);
  }
  total->threshold = threshold;
  total->risen = 0;
}

uint64_t Counterfactual::PeakWithout(size_t group) const {
  const Group& of = groups_[group];
  if (of.scope == kNoScope) return of.peak;
  const uint64_t risen = totals_[of.scope].risen;
  return risen > 0 ? std::max(of.peak, risen - of.live) : of.peak;
}

void Counterfactual::Freed(SiteIndex site, uint32_t scope_index, uint64_t bytes, bool in_its_step) {
  if (scope_index < totals_.size() && totals_[scope_index].risen > 0) Settle(&totals_[scope_index]);
  for (const uint32_t index : GroupsOf(site)) {
    Group& group = groups_[index];
    (group.late && in_its_step ? group.fresh : group.live) -= bytes;
    Total& total = totals_[scope_index];
    total.threshold = std::min(total.threshold, group.peak + group.live);
  }
}

}  // namespace vramtrack
