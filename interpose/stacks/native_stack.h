// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_NATIVE_STACK_H_
#define INTERPOSE_STACKS_NATIVE_STACK_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

constexpr size_t kMaxFrames = 256;

// The lowest address at which code can be. A lower return address marks the end of a stack.
constexpr uint64_t kLowestCodeAddress = 0x4000;

// A call stack of native code.
struct NativeStack {
  size_t count = 0;
  bool truncated = false;
  uint64_t frames[kMaxFrames];  // return addresses, innermost first, without this library's own frames
};

// The addresses of a library's code, from `begin` to before `end`.
struct CodeRange {
  uint64_t begin = 0, end = 0;
  bool Contains(uint64_t ip) const { return ip - begin < end - begin; }
};

// Which frames of a stack a walk keeps.
struct WalkBounds {
  size_t max_frames;
  CodeRange own;   // innermost frames in this range are left out
  CodeRange last;  // the walk ends with the first frame in this range
};

// The registers from which a walk finds the next frame: the address at which the frame continues, and its stack pointer
// and frame pointer at that point.
struct Registers {
  uint64_t ip, sp, bp;
};

// True on architectures with unwind rules (unwind_rule.h). On others every stack is walked with libunwind's cursor.
#if defined(__x86_64__)
constexpr bool kHaveUnwindRules = true;
#else
constexpr bool kHaveUnwindRules = false;
#endif

// Returns the registers of the caller of the function whose __builtin_frame_address(0) is `frame`. That expression
// makes the compiler keep a frame pointer in the function, so the caller's frame pointer is at `frame` and the return
// address is the word above it.
inline Registers CallerOf(const void* frame) {
  const auto* words = static_cast<const uint64_t*>(frame);
  return {words[1], reinterpret_cast<uint64_t>(words + 2), words[0]};
}

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_NATIVE_STACK_H_
