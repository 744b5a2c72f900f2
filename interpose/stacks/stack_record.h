// SPDX-License-Identifier: Apache-2.0
//
// Stores stacks that were walked before, with every word that the walk depended on. Comparing these words is much
// cheaper than walking, because no load depends on another. They are compared by one weighted sum of 64 bits, because
// the places and the sum are in two or three cache lines where the words themselves take six.
#ifndef INTERPOSE_STACKS_STACK_RECORD_H_
#define INTERPOSE_STACKS_STACK_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_walk.h"
#include "proto/hash.h"

namespace vramtrack {

// The record of one walk. Immutable once it has an index.
struct StackRecord {
  uint64_t ip;
  uint64_t bp;        // depends on bp_use: distance in bytes from the start's stack pointer, or 0
  uint32_t stack;     // number of the stack in the trace
  uint32_t epoch;     // Request::RecordEpoch() in stack_capture.h
  uint32_t reach;     // the farthest word, in units of 8 bytes
  uint32_t next;      // index of the next record in the bucket; 0: none
  uint64_t sum;       // of the values, as SumOfWords has it
  uint64_t sp_share;  // what the sum grows by where the stack pointer is greater by one
  uint16_t return_words, distance_words;
  BpUse bp_use;
  alignas(8) uint16_t places[];  // distances of the words from the stack pointer, in units of 8 bytes

  // In the format of StackWalk::words.
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(places + PlacesRoom(count())); }
  size_t count() const { return size_t{return_words} + distance_words; }
  // How many places a record of that many words has: the last one again until there are four more.
  static constexpr size_t PlacesRoom(size_t count) { return (count + 3) & ~size_t{3}; }

  // The place where a stack differs from this one: the number of the first word that differs, or one of these.
  static constexpr uint32_t kStart = ~uint32_t{0};  // it starts at another address, so its words cannot be compared
  static constexpr uint32_t kBp = kStart - 1;
  static constexpr uint32_t kSame = kStart - 2;

  // Returns whether a stack starts at the same address and in the same epoch `now`, and can be compared: `room` is the
  // number of bytes from start.sp that can be read.
  bool BeginsAt(const Registers& start, uint64_t room, uint32_t now) const {
    return ip == start.ip && epoch == now && 8 * uint64_t{reach} + 8 <= room;
  }
  // Returns whether the frame pointer at the start matches.
  bool BpHolds(const Registers& start) const {
    return bp_use == BpUse::kNone || start.bp - (bp_use == BpUse::kDistance ? start.sp : 0) == bp;
  }
  // Returns whether all words match: of others, about one in 2^64 is taken for them. The caller must have checked
  // BeginsAt and BpHolds.
  bool WordsHold(uint64_t sp) const {
    return SumOfWords(PlacesRoom(count()), [&](size_t i) { return WordAt(sp, places[i]); }) - sp * sp_share == sum;
  }

  // The value of a word of the stack, as far as it is compared.
  static uint64_t WordAt(uint64_t sp, uint16_t place) { return Load(sp + 8 * uint64_t{place}) & kReturnBits; }
  // Returns the sum of `room` words, each with a weight of its own. There are four sums, so that no multiplication
  // waits for the one before.
  template <typename At>
  __attribute__((always_inline)) static uint64_t SumOfWords(size_t room, At at) {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i < room; i += 4) {
      a = a * kHashMultiplier + at(i);
      b = b * kHashMultiplier + at(i + 1);
      c = c * kHashMultiplier + at(i + 2);
      d = d * kHashMultiplier + at(i + 3);
    }
    return a + b * 0xd6e8feb86659fd93 + c * 0xa0761d6478bd642f + d * 0xe7037ed1a0b428db;
  }
  // Returns the number of the first word that differs and sets `*found` to the stack's value, or returns kSame. The
  // caller must have checked BeginsAt and BpHolds.
  uint32_t FirstDifference(uint64_t sp, uint64_t* found) const;
};

// All records of the process. Thread-safe; only Make takes a lock. Zero-initialised memory is an empty set. Records are
// never freed, so an index stays valid; therefore their memory is bounded.
class StackRecords {
 public:
  // The memory of all records together. When it is used up no more records are made, and stacks without a record are
  // walked each time.
  static constexpr size_t kMaxBytes = 8 << 20;
  static constexpr int kIndexBits = 17;  // an index counts units of 64 bytes; 0 means no record

  const StackRecord* At(uint32_t index) const {
    return reinterpret_cast<const StackRecord*>(base_ + 64 * uint64_t{index});
  }

  // Returns the index of the record of this walk, or 0. Sets `*hash` for SeenBefore and Make.
  uint32_t Find(const Registers& start, const StackWalk& walk, uint32_t epoch, uint64_t* hash) const;
  // Returns whether it was called with this hash before. It forgets some hashes, so it may return false again. A stack
  // that occurs only once should take no memory.
  bool SeenBefore(uint64_t hash);
  // Adds a record and returns its index; returns the existing one if another thread has just added it, and 0 if no
  // memory is left.
  uint32_t Make(const Registers& start, const StackWalk& walk, uint32_t epoch, uint64_t hash, uint32_t stack);

  // Return and set the record to try after a difference. `key` is a hash of the record, the place of the difference,
  // and the value found there.
  uint32_t After(uint64_t key) const { return after_[key >> (64 - kAfterBits)].load(std::memory_order_acquire); }
  void SetAfter(uint64_t key, uint32_t index) {
    std::atomic<uint32_t>& entry = after_[key >> (64 - kAfterBits)];
    if (entry.load(std::memory_order_relaxed) != index) entry.store(index, std::memory_order_release);
  }

  size_t bytes() const { return 64 * size_t{used_.load(std::memory_order_relaxed)}; }

 private:
  static constexpr int kBucketBits = 13, kAfterBits = 14, kSeenBits = 12;

  bool Same(const StackRecord& record, const Registers& start, const StackWalk& walk, uint32_t epoch) const;

  uint64_t base_;  // address of the mapping that holds all records
  SpinLock lock_;
  std::atomic<uint32_t> used_;  // in units of 64 bytes
  std::atomic<uint32_t> buckets_[1 << kBucketBits];
  std::atomic<uint32_t> after_[1 << kAfterBits];
  std::atomic<uint32_t> seen_[1 << kSeenBits];
  std::atomic<uint32_t> turn_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_RECORD_H_
