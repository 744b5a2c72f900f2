// SPDX-License-Identifier: Apache-2.0
//
// Tracks which part of a thread's own stack is known to be readable.
#ifndef INTERPOSE_STACKS_STACK_REGION_H_
#define INTERPOSE_STACKS_STACK_REGION_H_

#include <cstdint>

namespace vramtrack {

// The readable region of one thread's stack. Only that thread may use it. Zero-initialised memory is an unknown region.
// Does not allocate and opens no file.
//
// The outer end is an address that is certainly on the thread's own stack, outside of all frames. For the first thread
// it is the address of the 16 random bytes of the kernel (AT_RANDOM). For other threads it is the C library's thread
// block, which is at the outer end of every stack that the C library has made. Every page between this address and the
// stack pointer is tested once, with a system call that reads it. The region grows when the stack does. The memory of a
// thread's stack exists as long as the thread, so a readable page stays readable.
class StackRegion {
 public:
  // Returns whether `sp` is on the thread's own stack. If so, everything from `sp` to end() can be read.
  bool Covers(uint64_t sp) { return __builtin_expect(sp - low_ < end_ - low_, 1) || Extend(sp); }
  // Returns the address after the last readable word.
  uint64_t end() const { return end_; }

  // Returns the end of the readable pages that begin at `sp`, rounded up to a page and searched for at most `bytes`.
  // For a stack that is not the thread's own. Other threads may unmap such a stack, so the answer may become wrong at
  // any time.
  static uint64_t ReadableEnd(uint64_t sp, uint64_t bytes);

  // Resets the region for the next thread.
  void Forget() { low_ = end_ = unreadable_ = 0; }

 private:
  bool Extend(uint64_t sp);
  bool AllReadable(uint64_t from, uint64_t to);

  uint64_t low_, end_;
  uint64_t unreadable_;  // page where the last test failed; tested first, because programs with other stacks ask often
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_REGION_H_
