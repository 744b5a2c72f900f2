// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/reached_objects.h"

namespace vramtrack::holders {
namespace {

// Enough for what PyTorch has when it was imported.
constexpr size_t kFirstEntries = size_t{1} << 19;
constexpr size_t kAhead = 6, kFarAhead = 12;

}  // namespace

ReachedObjects::Slot& ReachedObjects::SlotOf(uint64_t address) const {
  size_t at = HomeOf(address);
  while (slots_[at].address != address && slots_[at].address != 0) at = (at + 1) & (slot_count_ - 1);
  return slots_[at];
}

void ReachedObjects::Expect(size_t entries) {
  if (entries < kFirstEntries) entries = kFirstEntries;
  if (entries > kMaxEntries) entries = kMaxEntries;
  size_t slots = 2 * kFirstEntries;
  while (slots < 2 * entries) slots *= 2;
  if (slots > slot_count_ && Grow(slots)) entries_.ReserveInHugePages(entries);
}

uint32_t ReachedObjects::Find(uint64_t address) const {
  if (slot_count_ == 0) return 0;
  return SlotOf(address).entry;
}

uint32_t ReachedObjects::Add(uint64_t address, uint8_t stage) {
  if (2 * entries_.size() >= slot_count_ && !Grow(slot_count_ == 0 ? 2 * kFirstEntries : 2 * slot_count_)) {
    no_memory_ = true;
    return 0;
  }
  Slot& slot = SlotOf(address);
  if (slot.address != 0) {
    if (slot.stage <= stage) return 0;
    slot.stage = stage;
    return slot.entry;
  }
  if (full()) return 0;
  if (!entries_.Reserve(2)) {
    no_memory_ = true;
    return 0;
  }
  if (entries_.size() == 0) entries_.Add(Entry());
  slot = {address, size(), stage};
  Entry entry = {};
  entry.address = address;
  entries_.Add(entry);
  return slot.entry;
}

bool ReachedObjects::Grow(size_t count) {
  const size_t before = slot_count_;
  Slot* const old = slots_;
  auto* slots = static_cast<Slot*>(MapPrivate(count * sizeof(Slot)));
  if (slots == nullptr) return false;
  UseHugePages(slots, count * sizeof(Slot));
  slots_ = slots;
  slot_count_ = count;
  shift_ = 64 - __builtin_ctzll(count);
  for (size_t i = 0; i < before; ++i) {
    if (old[i].address != 0) SlotOf(old[i].address) = old[i];
  }
  if (old != nullptr) Unmap(old, before * sizeof(Slot));
  return true;
}

bool ReachedObjects::Push(uint8_t stage, uint32_t entry, bool early) {
  GrowingArray<uint32_t>& queue = queues_[2 * stage + (early ? 0 : 1)].entries;
  if (!queue.Reserve(1)) return no_memory_ = true, false;
  queue.Add(entry);
  return true;
}

uint32_t ReachedObjects::Pop() {
  for (size_t i = 0; i < 2 * kStages; ++i) {
    Queue& queue = queues_[i];
    if (queue.next >= queue.entries.size()) continue;
    last_queue_ = i;
    // Objects lie all over memory, and their entries do: the next ones are asked for early.
    const size_t ahead = queue.next + kAhead, far_ahead = queue.next + kFarAhead;
    if (far_ahead < queue.entries.size()) __builtin_prefetch(&entries_[queue.entries[far_ahead]]);
    if (ahead < queue.entries.size()) {
      const uint64_t address = entries_[queue.entries[ahead]].address;
      __builtin_prefetch(reinterpret_cast<const void*>(address));
      __builtin_prefetch(reinterpret_cast<const void*>(address + 64));
    }
    return queue.entries[queue.next++];
  }
  return 0;
}

void ReachedObjects::Free() {
  entries_.Free();
  for (Queue& queue : queues_) queue.entries.Free();
  if (slots_ != nullptr) Unmap(slots_, slot_count_ * sizeof(Slot));
  slots_ = nullptr;
  slot_count_ = 0;
}

}  // namespace vramtrack::holders
