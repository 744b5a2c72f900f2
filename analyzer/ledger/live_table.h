// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_LIVE_TABLE_H_
#define ANALYZER_LEDGER_LIVE_TABLE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"

namespace vramtrack {

struct LiveAllocation {
  uint64_t bytes = 0;
  uint64_t place = 0;  // the device's number in the highest byte, the address in the others; see SetPlace
  SiteIndex site;      // none: nothing is allocated
  uint32_t birth_step = 0;

  // Addresses of devices and pointers have 48 bits, 57 at the most; the highest byte is cut off.
  void SetPlace(DeviceIndex device, uint64_t address) {
    place = uint64_t{device.value()} << kAddressBits | (address & kAddressMask);
  }
  uint64_t address() const { return place & kAddressMask; }
  DeviceIndex device() const { return DeviceIndex(static_cast<uint32_t>(place >> kAddressBits)); }

  static constexpr int kAddressBits = 56;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << kAddressBits) - 1;
};

struct NamedAllocation {
  AllocationName name;
  LiveAllocation allocation;
};

// The live allocations by identity: (slot of the thread, ordinal). Most allocations are freed soon. Each thread
// therefore has a window of its latest allocations, in which an insertion or removal takes a few instructions. Older
// allocations are in a hash table. Memory is bounded by the live allocations and the threads. Thread-compatible.
class LiveTable {
 public:
  explicit LiveTable(uint32_t slots) : windows_(slots) {}

  // Adds an allocation, which the caller fills: a copy of one that was just written part by part would stall the
  // processor. `*added` is valid until the next call of Insert. Returns true if the identity was already taken, which
  // happens in damaged traces only; the allocation that had it is then in `*replaced`.
  bool Insert(ThreadSlot slot, uint64_t ordinal, LiveAllocation** added, LiveAllocation* replaced) {
    Window& window = windows_[slot];
    if (__builtin_expect(window.entries == nullptr, 0)) Resize(&window, kMinWindow);
    Entry* entry = &window.entries[ordinal & window.mask];
    if (__builtin_expect(!entry->allocation.site.is_none(), 0)) entry = MakeRoom(slot, ordinal);
    const bool taken = __builtin_expect(!entry->allocation.site.is_none(), 0);
    if (taken) *replaced = entry->allocation;
    entry->ordinal = ordinal;
    *added = &entry->allocation;
    size_ += !taken;
    return taken;
  }

  // Removes an allocation and copies it to `*removed`. Returns false if it is not in the table.
  bool Remove(ThreadSlot slot, uint64_t ordinal, LiveAllocation* removed) {
    Window& window = windows_[slot];
    if (__builtin_expect(window.entries != nullptr, 1)) {
      Entry& entry = window.entries[ordinal & window.mask];
      if (__builtin_expect(entry.ordinal == ordinal && !entry.allocation.site.is_none(), 1)) {
        *removed = entry.allocation;
        entry.allocation.site = SiteIndex::None();
        --size_;
        return true;
      }
    }
    return RemoveOld(slot, ordinal, removed);
  }

  // Returns null if it is not in the table. Valid until the next change.
  const LiveAllocation* Find(ThreadSlot slot, uint64_t ordinal) const {
    if (!windows_.Has(slot)) return nullptr;
    const Window& window = windows_[slot];
    if (window.entries != nullptr) {
      const Entry& entry = window.entries[ordinal & window.mask];
      if (entry.ordinal == ordinal && !entry.allocation.site.is_none()) return &entry.allocation;
    }
    const auto found = old_.find({slot, ordinal});
    return found == old_.end() ? nullptr : &found->second;
  }

  // Removes all allocations of `device` and returns them, ordered by identity.
  std::vector<NamedAllocation> RemoveDevice(DeviceIndex device);

  // Calls `visit(name, allocation)` for each live allocation, in no particular order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const ThreadSlot slot : windows_.indices()) {
      const Window& window = windows_[slot];
      for (uint64_t i = 0; window.entries != nullptr && i <= window.mask; ++i) {
        const Entry& entry = window.entries[i];
        if (!entry.allocation.site.is_none()) visit(AllocationName(slot, entry.ordinal), entry.allocation);
      }
    }
    for (const auto& [name, allocation] : old_) visit(name, allocation);
  }

  uint64_t size() const { return size_; }

 private:
  static constexpr uint64_t kMinWindow = 16, kMaxWindow = 4096;

  struct Entry {
    uint64_t ordinal;
    LiveAllocation allocation;
  };
  struct Window {
    std::unique_ptr<Entry[]> entries;
    uint64_t mask = 0;
  };

  // Returns the entry for `ordinal` after a collision: enlarges the window, or moves the other allocation to old_.
  Entry* MakeRoom(ThreadSlot slot, uint64_t ordinal);
  static void Resize(Window* window, uint64_t size);
  bool RemoveOld(ThreadSlot slot, uint64_t ordinal, LiveAllocation* removed);

  IndexedVector<ThreadSlot, Window> windows_;
  absl::flat_hash_map<AllocationName, LiveAllocation> old_;
  uint64_t size_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_LIVE_TABLE_H_
