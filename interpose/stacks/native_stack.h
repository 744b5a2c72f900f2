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

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_NATIVE_STACK_H_
