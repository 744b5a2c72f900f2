// SPDX-License-Identifier: Apache-2.0
//
// A lock-free hash table from 64-bit keys to 64-bit values, shared by threads. It maps its own memory.
//
// A bucket holds four keys and their values in one cache line, because most look-ups touch cold memory. A key that
// finds its bucket full goes to the next, larger level, which is created when it is first needed. There are no
// tombstones: a removed key leaves a free slot. Calls for one key must be ordered by the program itself (an address is
// freed after it was returned, and returned again after it was freed). Calls for different keys need no order.
#ifndef INTERPOSE_BASE_CONCURRENT_TABLE_H_
#define INTERPOSE_BASE_CONCURRENT_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/system_call.h"

namespace vramtrack {

// Zero-initialised memory is an empty table. Keys must not be 0. Signal-safe, except that creating a level calls mmap.
class ConcurrentTable {
  static constexpr int kWays = 4;

 public:
  // Sets the value of `key` and returns true; `*before` (may be null) becomes the former value, or 0. Returns false if
  // every level is full or there is no memory; the key is not in the table then.
  bool Insert(uint64_t key, uint64_t value, uint64_t* before = nullptr) {
    return InsertAt(HomeOf(key), key, value, before);
  }

  // Returns the value of `key`, or 0 if there is none (yet).
  uint64_t Find(uint64_t key) const {
    const Slot slot = FindSlot(key);
    return slot.bucket == nullptr ? 0 : slot.bucket->values[slot.way].load(std::memory_order_acquire);
  }

  // Insert in two steps. Prefetch returns where the key will be looked for first, for InsertAt. That memory is usually
  // cold, and the caller has other work in the meantime.
  struct alignas(64) Bucket {
    std::atomic<uint64_t> keys[kWays];
    std::atomic<uint64_t> values[kWays];
  };
  Bucket* Prefetch(uint64_t key) const {
    Bucket* const home = HomeOf(key);
    __builtin_prefetch(home, 1);
    return home;
  }
  bool InsertAt(Bucket* home, uint64_t key, uint64_t value, uint64_t* before = nullptr) {
    if (before != nullptr) *before = 0;
    if (__builtin_expect(home == nullptr, 0)) home = CreateHome(key);
    if (__builtin_expect(home == nullptr, 0)) return false;
    return __builtin_expect(InsertIn(home, key, value, before), 1) || InsertFarther(key, value, before);
  }

  // Removes the key and returns its value, or 0 if it is not in the table.
  uint64_t Remove(uint64_t key) {
    const Slot slot = FindSlot(key);
    if (slot.bucket == nullptr) return 0;
    const uint64_t value = slot.bucket->values[slot.way].load(std::memory_order_acquire);
    slot.bucket->values[slot.way].store(0, std::memory_order_relaxed);
    slot.bucket->keys[slot.way].store(0, std::memory_order_release);
    return value;
  }

 private:
  static constexpr int kLevels = 5;
  // The levels hold 32 Ki, 256 Ki, 2 Mi, 16 Mi and 128 Mi entries. Pages that no key touches use no memory.
  static constexpr int kBucketBits[kLevels] = {13, 16, 19, 22, 25};

  struct Slot {
    Bucket* bucket;
    int way;
  };

  static size_t Index(uint64_t key, int level) {
    uint64_t h = (key ^ key >> 31) * (0x9e3779b97f4a7c15 + 2 * static_cast<uint64_t>(level));
    h ^= h >> 32;
    return (h * 0xd6e8feb86659fd93) >> (64 - kBucketBits[level]);
  }

  // Returns null if no key was ever inserted.
  Bucket* HomeOf(uint64_t key) const {
    Bucket* const buckets = levels_[0].load(std::memory_order_acquire);
    return __builtin_expect(buckets == nullptr, 0) ? nullptr : buckets + Index(key, 0);
  }
  __attribute__((cold, noinline)) Bucket* CreateHome(uint64_t key) { return BucketFor(key, 0); }

  // Returns false if all ways are taken.
  static bool InsertIn(Bucket* bucket, uint64_t key, uint64_t value, uint64_t* before) {
    int vacant = kWays;
    for (int i = kWays - 1; i >= 0; --i) {
      const uint64_t there = bucket->keys[i].load(std::memory_order_relaxed);
      if (__builtin_expect(there == key, 0)) {
        const uint64_t old = bucket->values[i].exchange(value, std::memory_order_acq_rel);
        if (before != nullptr) *before = old;
        return true;
      }
      if (there == 0) vacant = i;
    }
    // Other threads may take ways, and leave some.
    for (; vacant < kWays; ++vacant) {
      uint64_t expected = 0;
      if (__builtin_expect(bucket->keys[vacant].compare_exchange_strong(expected, key, std::memory_order_acq_rel), 1)) {
        bucket->values[vacant].store(value, std::memory_order_release);
        return true;
      }
    }
    return false;
  }

  __attribute__((cold, noinline)) bool InsertFarther(uint64_t key, uint64_t value, uint64_t* before) {
    for (int level = 1; level < kLevels; ++level) {
      Bucket* const bucket = BucketFor(key, level);
      if (bucket == nullptr) return false;
      if (InsertIn(bucket, key, value, before)) return true;
    }
    return false;
  }

  static int WayOf(const Bucket* bucket, uint64_t key) {
    int i = 0;
    while (i < kWays && bucket->keys[i].load(std::memory_order_acquire) != key) ++i;
    return i;
  }

  Slot FindSlot(uint64_t key) const {
    Bucket* const bucket = HomeOf(key);
    if (__builtin_expect(bucket == nullptr, 0)) return {nullptr, 0};
    const int way = WayOf(bucket, key);
    return __builtin_expect(way < kWays, 1) ? Slot{bucket, way} : FindFarther(key);
  }

  __attribute__((noinline)) Slot FindFarther(uint64_t key) const {
    for (int level = 1; level < kLevels; ++level) {
      Bucket* const buckets = levels_[level].load(std::memory_order_acquire);
      if (buckets == nullptr) break;
      Bucket* const bucket = buckets + Index(key, level);
      if (const int way = WayOf(bucket, key); way < kWays) return {bucket, way};
    }
    return {nullptr, 0};
  }

  Bucket* BucketFor(uint64_t key, int level) {
    Bucket* buckets = levels_[level].load(std::memory_order_acquire);
    if (buckets == nullptr) buckets = CreateLevel(level);
    return buckets == nullptr ? nullptr : buckets + Index(key, level);
  }

  __attribute__((cold, noinline)) Bucket* CreateLevel(int level) {
    const size_t bytes = sizeof(Bucket) << kBucketBits[level];
    auto* mine = static_cast<Bucket*>(level == 0 ? MapTable(bytes) : MapPrivate(bytes));
    if (mine == nullptr) return nullptr;
    Bucket* expected = nullptr;
    if (levels_[level].compare_exchange_strong(expected, mine, std::memory_order_acq_rel)) return mine;
    if (level != 0) Unmap(mine, bytes);
    return expected;
  }

  std::atomic<Bucket*> levels_[kLevels];
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_CONCURRENT_TABLE_H_
