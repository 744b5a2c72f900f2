// SPDX-License-Identifier: Apache-2.0
//
// Stacks that were walked before, with every word that the walk depended on: comparing them is much cheaper than
// walking, because no load waits for another.
#ifndef INTERPOSE_STACKS_STACK_RECORD_H_
#define INTERPOSE_STACKS_STACK_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_walk.h"

namespace vramtrack {

// Immutable once it has an index.
struct StackRecord {
  uint64_t ip;
  uint64_t bp;     // as bp_use says: a distance from the start's stack pointer, or 0
  uint32_t stack;  // its number in the trace
  uint32_t epoch;  // of the module map
  uint32_t reach;  // the farthest word, in units of 8 bytes
  uint32_t next;   // index of the next record of the bucket
  uint16_t return_words, distance_words;
  BpUse bp_use;
  uint64_t words[];  // as StackWalk has them

  // How a stack differs from this one: the number of the first word that differs, or one of these.
  static constexpr uint32_t kStart = ~uint32_t{0};  // begins elsewhere: no word says anything
  static constexpr uint32_t kBp = kStart - 1;
  static constexpr uint32_t kSame = kStart - 2;

  // `room`: bytes that may be read from start.sp on.
  bool BeginsAt(const Registers& start, uint64_t room, uint32_t now) const {
    return ip == start.ip && epoch == now && 8 * uint64_t{reach} + 8 <= room;
  }
  bool BpHolds(const Registers& start) const {
    return bp_use == BpUse::kNone || start.bp - (bp_use == BpUse::kDistance ? start.sp : 0) == bp;
  }
  // All words at once; the caller has checked the two above.
  bool WordsHold(uint64_t sp) const;
  // The first word that differs, given that one does; `*found` is what the stack has there.
  uint32_t FirstDifference(uint64_t sp, uint64_t* found) const;
};

// Thread-safe; only making a record takes a lock. Zero-initialised memory is an empty set. Records are never freed, so
// whoever has an index may use it; that is why their memory is bounded.
class StackRecords {
 public:
  // Of all records together. At the bound no more are made: stacks without one are walked each time.
  static constexpr size_t kMaxBytes = 8 << 20;
  static constexpr int kIndexBits = 17;  // an index counts units of 64 bytes; 0 is none

  const StackRecord* At(uint32_t index) const {
    return reinterpret_cast<const StackRecord*>(base_ + 64 * uint64_t{index});
  }

  // The record of this walk, or 0. `*hash` is for Make.
  uint32_t Find(const Registers& start, const StackWalk& walk, uint32_t epoch, uint64_t* hash) const;
  // True from the second time on that it is asked for this hash, as far as it remembers: a stack that never comes again
  // shall take no memory.
  bool SeenBefore(uint64_t hash);
  // Makes one, unless another thread just has; 0 where there is no room.
  uint32_t Make(const Registers& start, const StackWalk& walk, uint32_t epoch, uint64_t hash, uint32_t stack);

  // What was found to follow after a difference: `key` says which record, where it differed, and what was there.
  uint32_t After(uint64_t key) const { return after_[key >> (64 - kAfterBits)].load(std::memory_order_acquire); }
  void SetAfter(uint64_t key, uint32_t index) {
    std::atomic<uint32_t>& entry = after_[key >> (64 - kAfterBits)];
    if (entry.load(std::memory_order_relaxed) != index) entry.store(index, std::memory_order_release);
  }

  size_t bytes() const { return 64 * size_t{used_.load(std::memory_order_relaxed)}; }

 private:
  static constexpr int kBucketBits = 13, kAfterBits = 14, kSeenBits = 12;

  bool Same(const StackRecord& record, const Registers& start, const StackWalk& walk, uint32_t epoch) const;

  uint64_t base_;  // of the mapping that all records lie in
  SpinLock lock_;
  std::atomic<uint32_t> used_;  // in units of 64 bytes
  std::atomic<uint32_t> buckets_[1 << kBucketBits];
  std::atomic<uint32_t> after_[1 << kAfterBits];
  std::atomic<uint32_t> seen_[1 << kSeenBits];
  std::atomic<uint32_t> turn_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_RECORD_H_
