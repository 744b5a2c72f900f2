// SPDX-License-Identifier: Apache-2.0
//
// Adds memory that no hooked event reports to the ledger. It counts like any other driver memory, except that steps are
// found without it. The steps are therefore the same whether this memory is known or not.
#include "analyzer/ledger/unseen_memory.h"

#include "analyzer/ledger/ledger.h"

namespace vramtrack {

void Ledger::ApplyUnseen(uint64_t until) {
  // An event may have the latest of all times, which stands for "no change" as well.
  if (options_.unseen == nullptr) return;
  const std::vector<UnseenMemory::Change>& changes = options_.unseen->changes;
  for (; next_unseen_ < changes.size() && changes[next_unseen_].ticks <= until; ++next_unseen_) {
    const UnseenMemory::Change& change = changes[next_unseen_];
    // Not by their steps, but by their numbers all replays are alike.
    const bool is_host = IsHostMemory(change.kind);
    const SiteIndex site =
        FindSite({change.kind, is_host ? kHost : change.device, options_.unseen->StackOf(change.library)});
    if (options_.unseen_sites_only) continue;
    MoveClock(change.ticks);
    const ThreadSlot slot = trace_.threads().next_index();
    if (!change.born) {
      LiveAllocation allocation;
      // What a reset of the device took away is gone already.
      if (live_.Remove(slot, change.ordinal, &allocation)) Vanish(allocation, {slot, change.ordinal});
      continue;
    }
    LiveAllocation *added, replaced;
    live_.Insert(slot, change.ordinal, &added, &replaced);
    added->bytes = change.bytes;
    added->SetPlace(change.device, change.address);
    added->site = site;
    added->birth_step = clock_.step();
    Enter(*added, {slot, change.ordinal}, /*stream=*/0);
  }
  unseen_ticks_ = next_unseen_ < changes.size() ? changes[next_unseen_].ticks : UINT64_MAX;
}

}  // namespace vramtrack
