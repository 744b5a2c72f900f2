// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/repeated_frees.h"

namespace vramtrack {

void RepeatedFrees::Freed(const ReplayAllocation& freed) {
  // Memory that a device's reset takes away was not released by a call of its own.
  const StreamEvent* event = ledger_->present_event();
  if (event == nullptr || event->operation != schema::FREE || event->past) return;
  const std::pair<uint32_t, uint64_t> key = {freed.site.key.kind, freed.allocation.address()};
  if (freed_.size() < kMaxFreed || freed_.contains(key)) freed_[key] = StackOf(event->slot);
}

void RepeatedFrees::OnOtherEvent(const StreamEvent& event) {
  if (event.past) return;
  const uint32_t kind = event.shape->kind;
  if (event.operation == schema::MARK) {
    if (kind != schema::MARK_RELEASE) return;
    stacks_[event.slot] = trace_.definitions().stacks.Distinct(event.shape->ref);
  } else if (event.operation == schema::FREE_UNKNOWN && IsWatched(kind)) {
    const auto found = freed_.find({kind, event.value[0] & LiveAllocation::kAddressMask});
    if (found == freed_.end()) return;
    const Key key = {kind, event.device(), StackOf(event.slot), found->second};
    if (counts_.size() < kMaxPairs || counts_.count(key) > 0) ++counts_[key];
  }
}

}  // namespace vramtrack
