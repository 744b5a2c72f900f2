// SPDX-License-Identifier: Apache-2.0
//
// Maps a return address to its unwind rule, for all threads.
//
// An unwind rule says how to find the caller's frame from a return address. A rule is one word, so readers of a table
// of rules need no lock: they see either the old rule or the new one.
//
//   bits 63..24  tag    identifies the return address together with the word's place in the table
//   bits 23..15  j      the caller's rbp was saved at slot - 8 j; 0: rbp is unchanged
//   bits 13..12  kind
//   bits 11..0   k
//
//   kind kFromSp     slot = rsp + 8 k
//        kFromBp     slot = rbp + 8 k
//        kRealigned  slot = *(rbp - 8 k) - 8, and the caller's rbp = *rbp (gcc's realignment of the stack)
//        kSpecial    k is a Special
//
// `slot` is the address at which this frame's return address was saved: the caller continues at *slot with rsp = slot
// + 8. A word of 0 means that there is no rule.
//
// So much for x86-64. On aarch64 a frame has its return address and x29 next to each other, but anywhere:
//
//   bits 23..15  j      slot = sp or x29 + 8 j
//   bit  14      p      the caller's x29 was saved at slot - 8; otherwise x29 is unchanged
//   bits 11..0   k      kFromSp: the caller's sp = sp + 8 k; kFromBp: the caller's sp = x29 + 8 k
//
// and the caller continues at *slot, whose signature is removed (WithoutSignature). There is no kRealigned.
#ifndef INTERPOSE_STACKS_RULE_TABLE_H_
#define INTERPOSE_STACKS_RULE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// One rule, in the format above.
class UnwindRule {
 public:
  enum Kind : uint64_t { kSpecial, kFromSp, kFromBp, kRealigned };
  enum Special : uint64_t {
    kNone,
    kEnd,            // the outermost frame
    kNoInformation,  // library code without unwind information; the outermost frame if rbp or x29 is 0 (both ABIs)
    kUnknownCode,    // code outside of libraries, such as JIT code; never cached, a library may be loaded there
    kSignal,         // return from a signal handler, which restores every register
    kUnusual,        // no rule fits: another register, an expression, or too large a distance
  };

  static constexpr uint64_t kTagMask = ~uint64_t{0xffffff};
  static constexpr uint64_t kMaxK = 0xfff, kMaxJ = 0x1ff;

  constexpr UnwindRule() : word_(0) {}
  constexpr explicit UnwindRule(uint64_t word) : word_(word) {}
  static constexpr UnwindRule Frame(Kind kind, uint64_t k, uint64_t j) { return UnwindRule(k | kind << 12 | j << 15); }
  static constexpr UnwindRule Of(Special special) { return UnwindRule(special); }

  static constexpr uint64_t kSavesBp = 1 << 14;  // on aarch64

  constexpr uint64_t word() const { return word_; }
  constexpr uint64_t k() const { return word_ & kMaxK; }
  constexpr uint64_t j() const { return word_ >> 15 & kMaxJ; }
  constexpr bool saves_bp() const { return (word_ & kSavesBp) != 0; }
  constexpr Kind kind() const { return static_cast<Kind>(word_ >> 12 & 3); }
  constexpr bool Is(Special special) const { return (word_ & 0x3fff) == special; }

 private:
  uint64_t word_;
};

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
