// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/page_usage.h"

namespace vramtrack {

SharedPages::Group& SharedPages::FindGroup(uint64_t index) {
  std::unique_ptr<Group>& group = groups_[index];
  if (group == nullptr) {
    group = std::make_unique<Group>();
    group->index = index;
    ++unused_groups_;
  }
  recent_[index % kRecent] = group.get();
  return *group;
}

void SharedPages::DropUnused() {
  recent_.fill(nullptr);
  for (auto at = groups_.begin(); at != groups_.end();) {
    const auto group = at++;
    if (group->second->used == 0) groups_.erase(group);
  }
  unused_groups_ = 0;
}

}  // namespace vramtrack
