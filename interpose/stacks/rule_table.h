// SPDX-License-Identifier: Apache-2.0
//
// From a return address to its unwind rule, for all threads.
#ifndef INTERPOSE_STACKS_RULE_TABLE_H_
#define INTERPOSE_STACKS_RULE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/unwind_rule.h"

namespace vramtrack {

// Thread-safe; no lock where the rule is known. Zero-initialised memory is an empty table. 32 KiB: a program allocates
// from some hundreds of return addresses, and a larger table costs more misses of the processor's cache than it saves.
class RuleTable {
 public:
  struct Changes {
    uint64_t learned = 0, evicted = 0;
  };

  // The rule of the frame at `frame`, learnt if it is not known. The registers must be true ones of a live frame of the
  // calling thread: libunwind reads the stack there. `epoch`: of the module map, as last given to BeginEpoch by this
  // thread; rules that were learnt in an older one are never kept.
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

  // A library went away: forgets everything, unless that was done for this epoch already. False where that cannot be
  // done now: nothing here may be used then.
  bool BeginEpoch(uint32_t epoch);

 private:
  static constexpr int kBits = 12;
  static constexpr size_t kWays = 4;
  // Odd, times 2^16: one to one for the 48 bits of an address. The index takes the highest 12 bits of the product but
  // the two that tell the ways of a group apart, the tag the others.
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
  SpinLock lock_;  // of stores: a rule of an older epoch must not come in behind BeginEpoch
  uint32_t epoch_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_RULE_TABLE_H_
