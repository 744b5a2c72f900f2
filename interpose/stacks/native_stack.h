// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_NATIVE_STACK_H_
#define INTERPOSE_STACKS_NATIVE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vramtrack {

constexpr size_t kMaxFrames = 256;

// Returns what is in memory at an address, which must be readable.
template <typename Value = uint64_t>
inline Value Load(uint64_t address) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

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
// and frame pointer (rbp, x29) at that point.
struct Registers {
  uint64_t ip, sp, bp;
};

// True on architectures with unwind rules (stack_walk.h). On others every stack is walked with libunwind's cursor.
#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kHaveUnwindRules = true;
#else
constexpr bool kHaveUnwindRules = false;
#endif

// A return address as the stack has it, without the signature that code for pointer authentication puts into its
// highest bits (aarch64). Which bits these are is known to the processor; one without authentication leaves all as they
// are.
#if defined(__aarch64__)
inline uint64_t WithoutSignature(uint64_t address) {
  register uint64_t x30 __asm__("x30") = address;
  __asm__("hint #7" : "+r"(x30));  // xpaclri
  return x30;
}
#else
inline uint64_t WithoutSignature(uint64_t address) { return address; }
#endif

// Returns the registers of the caller of the function whose __builtin_frame_address(0) is `frame` and whose
// __builtin_dwarf_cfa() is `cfa`. The first expression makes the compiler keep a frame pointer in the function, so the
// caller's frame pointer is at `frame` and the return address is the word above it. The second is the caller's stack
// pointer; on x86-64 it follows from the first.
inline Registers CallerOf(const void* frame, const void* cfa) {
  const auto* words = static_cast<const uint64_t*>(frame);
  return {WithoutSignature(words[1]), reinterpret_cast<uint64_t>(cfa), words[0]};
}

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_NATIVE_STACK_H_
