// SPDX-License-Identifier: Apache-2.0
//
// Walks a stack with unwind rules, and notes which words of the stack the result depends on.
//
// The result is a function of the start, the rules, and the words of the stack that the walk reads. A later walk with
// the same start, rules and words therefore has the same result. A record (stack_record.h) holds these words; they are
// all compared before a record is used instead of a walk.
//
// The position of a word is its distance from the start's stack pointer. If a frame is found through rbp, the saved
// value of rbp matters as well: return addresses alone can look right although the frames have moved (alloca, with
// stale words at the old positions). Values of rbp that no rule uses are left out. Those that are used are stored as
// distances from the start's stack pointer, so that a stack is the same on another thread, or deeper on the same
// thread.
#ifndef INTERPOSE_STACKS_STACK_WALK_H_
#define INTERPOSE_STACKS_STACK_WALK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

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

// Encodes a word of the stack: bits 15..0 are its distance from the start's stack pointer in units of 8 bytes, and the
// other bits are its value.
constexpr uint64_t StackWord(uint64_t distance, uint64_t value) { return value << 16 | distance; }
constexpr uint64_t kMaxWordDistance = 0xffff;
constexpr uint64_t kMaxWordValue = ~uint64_t{0} >> 16;

// The bits of a return address on the stack that are compared. On aarch64 a signature may be in those above: it belongs
// to the place on the stack, so the same stack elsewhere has another one.
#if defined(__aarch64__)
constexpr uint64_t kReturnBits = kMaxWordValue;
#else
constexpr uint64_t kReturnBits = ~uint64_t{0};
#endif

// How the result of a walk depends on the value of rbp at the start.
enum class BpUse : uint8_t {
  kNone,      // it does not
  kDistance,  // on its distance from the stack pointer
  kZero,      // on its being 0, which ends the stack
};

// Where a walk ended.
enum class WalkEnd : uint8_t {
  kWhole,               // at the end of the stack, at max_frames, or at a frame in WalkBounds::last
  kWithoutInformation,  // at code without unwind information; its callers are unknown
  // The next three give no valid stack.
  kSignal,   // at the frame of a signal handler
  kUnusual,  // at a frame that no rule can express
  kOutside,  // the next frame is not in the readable part of the stack
};

// The result of a walk, and the words that it depends on.
struct StackWalk {
  // Enough for the frames to keep and for this library's own frames, which are fewer than 32 in any build.
  static constexpr uint32_t kMaxReturns = kMaxFrames + 32, kMaxDistances = kMaxReturns;

  NativeStack stack;
  BpUse bp_use;
  bool recordable;          // false: words cannot express what the result depends on
  uint32_t return_words;    // first part of words[]: return addresses, and zeros that end the stack
  uint32_t distance_words;  // second part of words[]: values of rbp, as distances
  uint32_t reach;           // distance of the farthest word, in units of 8 bytes
  uint64_t words[kMaxReturns + kMaxDistances];
  uint64_t distances[kMaxDistances];  // the distance words, until the walk ends
};

// Walks outwards from `start`, a live frame of the calling thread, and returns why the walk ended. Reads only from
// start.sp to `end`; the caller must know that this memory is readable. Keeps at most `bounds.max_frames` frames. Adds
// to `changes`.
WalkEnd WalkByRules(const Registers& start, uint64_t end, const WalkBounds& bounds, uint32_t epoch, RuleTable* rules,
                    RuleTable::Changes* changes, StackWalk* walk);

// Fills `stack` by stepping libunwind's cursor outwards from `start`, which must be a frame that called this function.
// Keeps at most `bounds.max_frames` (<= kMaxFrames) frames. Works for every stack that libunwind understands, including
// those of signal handlers and coroutines. At code without unwind information the stack ends and is marked as
// truncated, because libunwind's guesses are wrong more often than not. Costs a microsecond or more per frame, because
// nothing is cached. Does not allocate; takes the loader's lock on its list of objects briefly.
void WalkByCursor(const Registers& start, const WalkBounds& bounds, NativeStack* stack);

// Makes libunwind take its locks inside the fork gate (ForkGate). Call it once, before the first stack is captured.
void GateUnwinder();

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_WALK_H_
