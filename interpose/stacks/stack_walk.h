// SPDX-License-Identifier: Apache-2.0
//
// A walk along a stack by rules, which notes what it depended on.
//
// The walk is a function of where it starts, of the rules, and of the words of the stack that it reads. So a later one
// that starts the same, under the same rules, and finds the same words, is the same walk: that is what a record of it
// claims, and what is checked before a record is taken for a stack.
//
// Words count by their distance from the stack pointer of the start. Where a frame is found by rbp the saved value
// matters as well: return addresses alone can look right although the frames have moved (alloca, with stale words at
// the old places). Values of rbp that are only passed on do not matter and are left out. Those that are used count
// as distances from the start's stack pointer: a stack is the same on another thread, or lower on the same one.
#ifndef INTERPOSE_STACKS_STACK_WALK_H_
#define INTERPOSE_STACKS_STACK_WALK_H_

#include <cstddef>
#include <cstdint>

#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/rule_table.h"

namespace vramtrack {

// A word of the stack: its distance from the start's stack pointer in bits 15..0, in units of 8 bytes, and its value.
constexpr uint64_t StackWord(uint64_t distance, uint64_t value) { return value << 16 | distance; }
constexpr uint64_t kMaxWordDistance = 0xffff;
constexpr uint64_t kMaxWordValue = ~uint64_t{0} >> 16;

enum class BpUse : uint8_t {
  kNone,      // the start's rbp does not matter
  kDistance,  // its distance from the stack pointer does
  kZero,      // that it is 0 does: the stack ends there
};

enum class WalkEnd : uint8_t {
  kWhole,               // to the end of the stack or to max_frames
  kWithoutInformation,  // to code without unwind information: what is outside of it is not known
  kSignal,              // these three: no stack, because of a frame that no rule can say
  kUnusual,
  kOutside,  // ... or because the next frame is not in the part of the stack that may be read
};

struct StackWalk {
  // Frames that are wanted, and more of this library's own than any build of it has.
  static constexpr uint32_t kMaxReturns = kMaxFrames + 32, kMaxDistances = kMaxReturns;

  NativeStack stack;
  BpUse bp_use;
  bool recordable;          // false: what it depended on cannot be said in words
  uint32_t return_words;    // of words[]: return addresses, and zeros that end the stack
  uint32_t distance_words;  // the words behind them: values of rbp, as distances
  uint32_t reach;           // the farthest word, in units of 8 bytes
  uint64_t words[kMaxReturns + kMaxDistances];
  uint64_t distances[kMaxDistances];  // these as they are found
};

// Walks from `start`, a live frame of the calling thread, reading only below `end`; the caller knows that everything
// from start.sp to there is readable. Takes at most `bounds.max_frames` that are not in `bounds.own`.
WalkEnd WalkByRules(const Registers& start, uint64_t end, const WalkBounds& bounds, uint32_t epoch, RuleTable* rules,
                    RuleTable::Changes* changes, StackWalk* walk);

// Fills `stack` by stepping libunwind's cursor, from the frame `start`, an outer one of this call, outwards: at most
// `bounds.max_frames` (<= kMaxFrames) that are not in `bounds.own`. Right for every stack that libunwind understands,
// among them those of signal handlers and of coroutines. A stack ends, truncated, at code without unwind information:
// libunwind would go on by guesses that are wrong more often than not. Costs a microsecond and more for each frame,
// because nothing is kept from one to the next. Allocates nothing; takes the loader's short lock for its list of
// objects.
void WalkByCursor(const Registers& start, const WalkBounds& bounds, NativeStack* stack);

// Has libunwind take its locks inside the fork gate. Once, before the first stack is taken.
void GateUnwinder();

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_WALK_H_
