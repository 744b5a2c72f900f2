// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_COMPACT_TABLE_H_
#define INTERPOSE_BASE_COMPACT_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/system_call.h"

namespace vramtrack {

// A hash table from 64-bit keys, which must not be 0, to plain data. It maps its own memory. Zero-initialised memory is
// an empty table. Not thread-safe.
template <typename Value>
class CompactTable {
 public:
  size_t size() const { return size_; }
  // Empties the table and unmaps its memory.
  void Free() {
    Release();
    mask_ = size_ = 0;
  }

  // Returns the value of `key`, or null if the key is not in the table. The pointer is valid until the next Insert or
  // Erase.
  Value* Find(uint64_t key) const {
    if (slots_ == nullptr) return nullptr;
    for (size_t at = Home(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return &slots_[at].value;
      if (slots_[at].key == 0) return nullptr;
    }
  }

  // Returns the value of `key`, zero-initialised if the key is new, or null if there is no memory. The pointer is valid
  // until the next Insert or Erase.
  Value* Insert(uint64_t key) {
    if (__builtin_expect(4 * (size_ + 1) > 3 * capacity(), 0) && !Grow()) return nullptr;
    for (size_t at = Home(key);; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.key == key) return &slot.value;
      if (slot.key != 0) continue;
      slot.key = key;
      slot.value = Value();
      ++size_;
      return &slot.value;
    }
  }

  void Erase(uint64_t key) {
    if (slots_ == nullptr) return;
    size_t hole = Home(key);
    for (; slots_[hole].key != key; hole = (hole + 1) & mask_) {
      if (slots_[hole].key == 0) return;
    }
    // Move later entries of the probe sequence into the hole, so that a look-up never stops early.
    for (size_t at = (hole + 1) & mask_; slots_[at].key != 0; at = (at + 1) & mask_) {
      if (((at - Home(slots_[at].key)) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].key = 0;
    --size_;
  }

  template <typename OnEntry>
  void ForEach(OnEntry on_entry) {
    for (size_t at = 0; at < capacity(); ++at) {
      if (slots_[at].key != 0) on_entry(slots_[at].key, &slots_[at].value);
    }
  }

  // Empties the table, then calls `on_entry(key, &value)` for each former entry; `on_entry` may insert.
  template <typename OnEntry>
  void Rebuild(OnEntry on_entry) {
    CompactTable before = *this;
    slots_ = nullptr;
    mask_ = size_ = 0;
    before.ForEach(on_entry);
    before.Release();
  }

 private:
  struct Slot {
    uint64_t key;
    Value value;
  };
  static constexpr size_t kFirstSlots = 256;

  size_t capacity() const { return slots_ == nullptr ? 0 : mask_ + 1; }
  size_t Home(uint64_t key) const {
    const uint64_t h = (key ^ key >> 32) * 0x9e3779b97f4a7c15;
    return (h ^ h >> 32) & mask_;
  }
  void Release() {
    if (slots_ != nullptr) Unmap(slots_, capacity() * sizeof(Slot));
    slots_ = nullptr;
  }
  bool Grow() {
    CompactTable larger = {};
    const size_t slots = slots_ == nullptr ? kFirstSlots : 2 * capacity();
    larger.slots_ = static_cast<Slot*>(MapPrivate(slots * sizeof(Slot)));
    if (larger.slots_ == nullptr) return false;
    larger.mask_ = slots - 1;
    ForEach([&larger](uint64_t key, const Value* value) { *larger.Insert(key) = *value; });
    Release();
    *this = larger;
    return true;
  }

  Slot* slots_;
  size_t mask_, size_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_COMPACT_TABLE_H_
