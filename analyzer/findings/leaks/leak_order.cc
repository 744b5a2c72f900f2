// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_order.h"

#include <algorithm>
#include <cstddef>

namespace vramtrack {
namespace {

// Fewer objects in a row show no order.
constexpr size_t kMinReleased = 5;
// One owner after the other changes once; a few stray objects are allowed for.
constexpr size_t kObjectsPerStray = 10;
// The latest steps of which births are kept.
constexpr size_t kStepsKept = 8;

}  // namespace

LeakOrder::LeakOrder(const std::vector<Watched>& groups, uint32_t complete_steps)
    : groups_(groups.size()), complete_steps_(complete_steps) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<uint32_t>& steps = groups[i].steps;
    groups_[i].steps.assign(steps.end() - static_cast<std::ptrdiff_t>(std::min(kStepsKept, steps.size())), steps.end());
    groups_[i].births.resize(groups_[i].steps.size());
    for (const SiteIndex site : groups[i].sites) {
      if (!group_of_.Has(site)) group_of_.resize(site.value() + size_t{1}, kNone);
      group_of_[site] = static_cast<uint32_t>(i);
    }
  }
}

void LeakOrder::OnAllocate(const ReplayAllocation& allocated) {
  ++event_;
  frees_since_allocation_ = 0;
  const size_t index = GroupOf(allocated.allocation.site);
  if (index == kNone) return;
  Group& group = groups_[index];
  if (group.first_birth == 0) group.first_birth = event_;
  group.last_birth = event_;
  const auto found = std::lower_bound(group.steps.begin(), group.steps.end(), allocated.allocation.birth_step);
  if (found == group.steps.end() || *found != allocated.allocation.birth_step) return;
  group.births[static_cast<size_t>(found - group.steps.begin())] = event_;
}

void LeakOrder::OnFree(const ReplayAllocation& freed) {
  ++event_;
  ++frees_since_allocation_;
  const size_t index = GroupOf(freed.allocation.site);
  if (index == kNone || ledger_->steps().step() < complete_steps_) return;
  if (freed.allocation.birth_step + 1 < complete_steps_) groups_[index].released.push_back(event_);
}

bool LeakOrder::BornLater(size_t a, size_t b) const {
  const Group& left = groups_[a];
  const Group& right = groups_[b];
  const bool begins_later = left.first_birth > right.first_birth, ends_later = left.last_birth > right.last_birth;
  if (begins_later == ends_later) return begins_later;
  for (const int64_t late : {0, 1, -1}) {
    for (size_t i = left.steps.size(); i-- > 0;) {
      for (size_t j = right.steps.size(); j-- > 0;) {
        if (int64_t{left.steps[i]} + late == right.steps[j]) return left.births[i] > right.births[j];
      }
    }
  }
  return false;
}

LeakOrder::Release LeakOrder::ReleaseOf(size_t a, size_t b) const {
  const std::vector<uint64_t>& left = groups_[a].released;
  const std::vector<uint64_t>& right = groups_[b].released;
  const size_t fewer = std::min(left.size(), right.size());
  if (fewer < kMinReleased) return Release::kUnknown;
  // How often one follows the other.
  size_t changes = 0, i = 0, j = 0;
  int previous = -1;
  while (i < left.size() || j < right.size()) {
    const int next = j == right.size() || (i < left.size() && left[i] < right[j]) ? 0 : 1;
    ++(next == 0 ? i : j);
    changes += previous >= 0 && previous != next;
    previous = next;
  }
  if (changes <= 1 + fewer / kObjectsPerStray) return Release::kApart;
  return changes >= fewer ? Release::kTogether : Release::kUnknown;
}

}  // namespace vramtrack
