// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_NATIVE_STACK_H_
#define INTERPOSE_STACKS_NATIVE_STACK_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

constexpr size_t kMaxFrames = 256;

// No code lies below: such a return address marks the end of a stack.
constexpr uint64_t kLowestCodeAddress = 0x4000;

struct NativeStack {
  size_t count = 0;
  bool truncated = false;
  uint64_t frames[kMaxFrames];  // return addresses, innermost first, without this library's own
};

// Where a library's own code lies: its frames at the inner end are no part of a stack.
struct CodeRange {
  uint64_t begin = 0, end = 0;
  bool Contains(uint64_t ip) const { return ip - begin < end - begin; }
};

// What of a stack is taken.
struct WalkBounds {
  size_t max_frames;
  CodeRange own;   // frames in it are left out at the inner end
  CodeRange last;  // a frame in it is the last one
};

// What a step of a walk needs of a frame: the address at which it goes on, its stack pointer then, its frame pointer.
struct Registers {
  uint64_t ip, sp, bp;
};

// True where frames are found by rules (unwind_rule.h); elsewhere every stack is walked by libunwind's cursor.
#if defined(__x86_64__)
constexpr bool kHaveUnwindRules = true;
#else
constexpr bool kHaveUnwindRules = false;
#endif

// Of the caller of the function whose __builtin_frame_address(0) is `frame`: that expression makes the compiler keep a
// frame pointer there, so the caller's and the return address lie at its place.
inline Registers CallerOf(const void* frame) {
  const auto* words = static_cast<const uint64_t*>(frame);
  return {words[1], reinterpret_cast<uint64_t>(words + 2), words[0]};
}

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_NATIVE_STACK_H_
