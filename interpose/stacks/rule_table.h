// SPDX-License-Identifier: Apache-2.0
//
// Maps a return address to its unwind rule, for all threads.
#ifndef INTERPOSE_STACKS_RULE_TABLE_H_
#define INTERPOSE_STACKS_RULE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/unwind_rule.h"

namespace vramtrack {

// A cache of unwind rules. Thread-safe; a lookup of a known rule takes no lock. Zero-initialised memory is an empty
// table. It has 32 KiB: the stacks of a program's allocations have some hundreds of return addresses, and a larger
// table costs more processor cache misses than it saves.
class RuleTable {
 public:
  // The number of rules that calls have added and removed.
  struct Changes {
    uint64_t learned = 0, evicted = 0;
  };

  // Returns the rule of `frame`, and learns it if it is not known. The registers must be those of a live frame of the
  // calling thread, because libunwind reads its stack. `epoch` is the epoch of the module map that this thread last
  // passed to BeginEpoch; a rule that was learned in an older epoch is not stored. Adds to `changes`.
  UnwindRule Find(const Registers& frame, uint32_t epoch, Changes* changes) {
    const Place place = PlaceOf(frame.ip);
    for (size_t way = 0; way < kWays; ++way) {
      const uint64_t word = words_[place.index ^ way].load(std::memory_order_relaxed);
      if (__builtin_expect(((word ^ place.tag) & UnwindRule::kTagMask) == 0 && (word & 0x3fff) != 0, 1)) {
        return UnwindRule(word);
      }
    }
    return Learn(frame, place, epoch, changes);
  }

  // Call this after a library was unloaded. Removes all rules, unless that was already done for this epoch. Returns
  // false if the lock cannot be taken; the caller must not use the table then.
  bool BeginEpoch(uint32_t epoch);

 private:
  static constexpr int kBits = 12;
  static constexpr size_t kWays = 4;
  // An odd number times 2^16, so that the product is unique for the 48 bits of an address. The highest 12 bits of the
  // product are the index, whose two lowest bits select the way in a group. The tag has all bits below the highest 10.
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ull << 16;

  struct Place {
    size_t index;
    uint64_t tag;
  };
  static Place PlaceOf(uint64_t ip) {
    const uint64_t h = ip * kMultiplier;
    return {h >> (64 - kBits), (h << (kBits - 2)) & UnwindRule::kTagMask};
  }

  UnwindRule Learn(const Registers& frame, Place place, uint32_t epoch, Changes* changes);

  alignas(64) std::atomic<uint64_t> words_[size_t{1} << kBits];
  SpinLock lock_;  // for stores: a rule of an older epoch must not be stored after BeginEpoch
  uint32_t epoch_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_RULE_TABLE_H_
