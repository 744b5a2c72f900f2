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

#include <cstddef>
#include <cstdint>

#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/rule_table.h"

namespace vramtrack {

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
