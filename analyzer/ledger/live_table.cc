// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/live_table.h"

#include <algorithm>

namespace vramtrack {

void LiveTable::Resize(Window* window, uint64_t size) {
  auto entries = std::make_unique<Entry[]>(size);
  for (uint64_t i = 0; window->entries != nullptr && i <= window->mask; ++i) {
    const Entry& entry = window->entries[i];
    if (!entry.allocation.site.is_none()) entries[entry.ordinal & (size - 1)] = entry;
  }
  window->entries = std::move(entries);
  window->mask = size - 1;
}

LiveTable::Entry* LiveTable::MakeRoom(ThreadSlot slot, uint64_t ordinal) {
  Window& window = windows_[slot];
  Entry* entry = &window.entries[ordinal & window.mask];
  while (!entry->allocation.site.is_none() && entry->ordinal != ordinal && window.mask + 1 < kMaxWindow) {
    Resize(&window, 2 * (window.mask + 1));
    entry = &window.entries[ordinal & window.mask];
  }
  if (!entry->allocation.site.is_none() && entry->ordinal != ordinal) {
    old_[{slot, entry->ordinal}] = entry->allocation;
    entry->allocation.site = SiteIndex::None();
  }
  return entry;
}

std::vector<NamedAllocation> LiveTable::RemoveDevice(DeviceIndex device) {
  std::vector<NamedAllocation> removed;
  for (const ThreadSlot slot : windows_.indices()) {
    Window& window = windows_[slot];
    for (uint64_t i = 0; window.entries != nullptr && i <= window.mask; ++i) {
      Entry& entry = window.entries[i];
      if (entry.allocation.site.is_none() || entry.allocation.device() != device) continue;
      removed.push_back({{slot, entry.ordinal}, entry.allocation});
      entry.allocation.site = SiteIndex::None();
    }
  }
  for (auto it = old_.begin(); it != old_.end();) {
    if (it->second.device() != device) {
      ++it;
      continue;
    }
    removed.push_back({it->first, it->second});
    old_.erase(it++);
  }
  size_ -= removed.size();
  // A hash table has no order of its own, and the same trace is to give the same report.
  std::sort(removed.begin(), removed.end(),
            [](const NamedAllocation& a, const NamedAllocation& b) { return a.name < b.name; });
  return removed;
}

bool LiveTable::RemoveOld(ThreadSlot slot, uint64_t ordinal, LiveAllocation* removed) {
  const auto found = old_.find({slot, ordinal});
  if (found == old_.end()) return false;
  *removed = found->second;
  old_.erase(found);
  --size_;
  return true;
}

}  // namespace vramtrack
