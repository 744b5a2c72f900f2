// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/reached_objects.h"

namespace vramtrack::holders {
namespace {

constexpr size_t kFirstSlots = size_t{1} << 17;
constexpr size_t kAhead = 6;

}  // namespace

uint32_t ReachedObjects::Find(uint64_t address) const {
  if (slot_count_ == 0) return 0;
  for (size_t slot = SlotOf(address); slots_[slot] != 0; slot = (slot + 1) & (slot_count_ - 1)) {
    if (entries_[slots_[slot]].address == address) return slots_[slot];
  }
  return 0;
}

uint32_t ReachedObjects::FindOrAdd(uint64_t address, bool* added) {
  *added = false;
  if (2 * entries_.size() >= slot_count_ && !Grow()) return 0;
  size_t slot = SlotOf(address);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slot_count_ - 1)) {
    if (entries_[slots_[slot]].address == address) return slots_[slot];
  }
  if (full() || !entries_.Reserve(2)) return 0;
  if (entries_.size() == 0) entries_.Add(Entry());
  slots_[slot] = size();
  Entry entry = {};
  entry.address = address;
  entries_.Add(entry);
  *added = true;
  return slots_[slot];
}

bool ReachedObjects::Grow() {
  const size_t count = slot_count_ == 0 ? kFirstSlots : 2 * slot_count_;
  auto* slots = static_cast<uint32_t*>(MapPrivate(count * sizeof(uint32_t)));
  if (slots == nullptr) return false;
  if (slots_ != nullptr) Unmap(slots_, slot_count_ * sizeof(uint32_t));
  slots_ = slots;
  slot_count_ = count;
  shift_ = 64 - __builtin_ctzll(count);
  for (uint32_t i = 1; i < size(); ++i) {
    size_t slot = SlotOf(entries_[i].address);
    while (slots_[slot] != 0) slot = (slot + 1) & (slot_count_ - 1);
    slots_[slot] = i;
  }
  return true;
}

bool ReachedObjects::Push(uint8_t stage, uint32_t entry) {
  GrowingArray<uint32_t>& queue = queues_[stage].entries;
  if (!queue.Reserve(1)) return false;
  queue.Add(entry);
  return true;
}

uint32_t ReachedObjects::Pop() {
  for (Queue& queue : queues_) {
    if (queue.next >= queue.entries.size()) continue;
    // Objects lie all over memory: the next ones are asked for early.
    const size_t ahead = queue.next + kAhead;
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
  if (slots_ != nullptr) Unmap(slots_, slot_count_ * sizeof(uint32_t));
  slots_ = nullptr;
  slot_count_ = 0;
}

}  // namespace vramtrack::holders
