// SPDX-License-Identifier: Apache-2.0
//
// The part of a thread's own stack that is known to be readable.
#ifndef INTERPOSE_STACKS_STACK_REGION_H_
#define INTERPOSE_STACKS_STACK_REGION_H_

#include <cstdint>

namespace vramtrack {

// Used by its thread only. Zero-initialised memory is an unknown region. Allocates nothing, opens no file.
//
// The outer end is an address that certainly lies on the thread's own stack, outside of all frames: where the C library
// keeps the thread's block (at the outer end of the stack of every thread that it has started), or where the kernel has
// put 16 random bytes (at the outer end of the first thread's). Every page between it and the stack pointer is tried
// once, with a system call that reads it for us; a stack that grows inwards is followed. Memory of a thread's own stack
// stays as long as the thread, so what was readable stays so.
class StackRegion {
 public:
  // Whether `sp` is on the thread's own stack: then everything from there to end() may be read.
  bool Covers(uint64_t sp) { return __builtin_expect(sp - low_ < end_ - low_, 1) || Extend(sp); }
  // The address behind the last word that may be read.
  uint64_t end() const { return end_; }

  // For a stack that is not the thread's own: the address behind the readable pages from `sp` on, at most `bytes`
  // farther. True at the moment of asking: other threads may unmap what is not theirs.
  static uint64_t ReadableEnd(uint64_t sp, uint64_t bytes);

  // For the next thread.
  void Forget() { low_ = end_ = unreadable_ = 0; }

 private:
  bool Extend(uint64_t sp);
  bool AllReadable(uint64_t from, uint64_t to);

  uint64_t low_, end_;
  uint64_t unreadable_;  // where the last attempt failed: a program that runs on other stacks asks each time
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_REGION_H_
