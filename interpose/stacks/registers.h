// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_REGISTERS_H_
#define INTERPOSE_STACKS_REGISTERS_H_

#include <cstdint>

namespace vramtrack {

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

#endif  // INTERPOSE_STACKS_REGISTERS_H_
