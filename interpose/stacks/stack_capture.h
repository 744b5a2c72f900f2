// SPDX-License-Identifier: Apache-2.0
//
// Captures the calling thread's stack and returns its number in the trace. It tries three ways in turn: a prediction
// that is checked, a walk with unwind rules, and libunwind's cursor. docs/internals/stacks.md explains why all three
// give the same stack.
#ifndef INTERPOSE_STACKS_STACK_CAPTURE_H_
#define INTERPOSE_STACKS_STACK_CAPTURE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/recorder/event_writer.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_record.h"
#include "interpose/stacks/stack_table.h"
#include "interpose/stacks/stack_walk.h"

namespace vramtrack {

// Tracks which part of a thread's own stack is known to be readable. Only that thread may use it. Zero-initialised
// memory is an unknown region. Does not allocate and opens no file.
//
// The outer end is an address that is certainly on the thread's own stack, outside of all frames. For the first thread
// it is the address of the 16 random bytes of the kernel (AT_RANDOM). For other threads it is the C library's thread
// block, which is at the outer end of every stack that the C library has made. Every page between this address and the
// stack pointer is tested once, with a system call that reads it. The region grows when the stack does. The memory of a
// thread's stack exists as long as the thread, so a readable page stays readable.
class StackRegion {
 public:
  // Returns whether `sp` is on the thread's own stack. If so, everything from `sp` to end() can be read.
  bool Covers(uint64_t sp) { return Knows(sp) || Extend(sp); }
  // Returns whether that is known without a test.
  bool Knows(uint64_t sp) const { return sp - low_ < end_ - low_; }
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

// Outcomes of stack captures. Each capture increments exactly one of the counts from kFirstGuesses to kModuleChanges;
// the others count details.
enum CaptureCount : size_t {
  kFirstGuesses,  // the first guess was right
  kLaterGuesses,  // a later guess was right, after a wrong first one
  kWalks,         // walked with unwind rules
  kForeignWalks,  // the same, on a stack that is not the thread's own, such as a coroutine's
  // The next three are walked with libunwind's cursor.
  kSignalFrames,        // through a signal handler
  kUnusualFrames,       // through a frame that no rule can express
  kModuleChanges,       // after an unload, while another thread refreshes the module map
  kWithoutInformation,  // walks that ended at code without unwind information
  kRulesLearned,        // may be several per capture
  kRulesEvicted,
  kCaptureCounts,
};

// Zero-initialised memory is the state of a thread that has captured nothing. Only the owning thread may use it, except
// for count() and TakeUnpublished(), which any thread may call.
class CaptureThread {
 public:
  void Count(CaptureCount which, uint64_t more = 1) {
    counts_[which].store(counts_[which].load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  uint64_t count(CaptureCount which) const { return counts_[which].load(std::memory_order_relaxed); }

  // Returns by how much the count has grown since the last call, which may have come from another thread.
  uint64_t TakeUnpublished(CaptureCount which) {
    const uint64_t now = count(which);
    return now - published_[which].exchange(now, std::memory_order_relaxed);
  }

  // The guesses are indexes of records, looked up by `history`. They stay when the thread ends, because they are useful
  // to the next owner as well.
  static constexpr int kGuessBits = 14;
  static constexpr size_t kGuessWays = 4;

  StackRegion region;
  uint32_t epoch;        // epoch of the module map at the last capture
  bool through_signal;   // set by a capture whose stack goes through a signal handler
  bool modules_changed;  // set by a capture during which the module map changed
  uint64_t history;      // hash of the indexes of the last five records

 private:  // here, because the first count is written by each capture, as what is above
  std::atomic<uint64_t> counts_[kCaptureCounts], published_[kCaptureCounts];

 public:
  CaptureThread* next_free;
  CaptureThread* next_of_all;

  alignas(64) uint32_t guesses[size_t{1} << kGuessBits];
  StackWalk walk;  // kept here because the thread's stack may be small
};

// A pool of thread states. Thread-safe. Zero-initialised memory is an empty pool. A released state is reused by a later
// thread and is never unmapped.
class CaptureThreads {
 public:
  // Returns a state for the calling thread, or null if there is no memory.
  CaptureThread* Acquire();
  void Release(CaptureThread* thread);

  // Calls `each` with every state that was ever created, including released ones.
  template <typename Each>
  void EachThread(Each each) const {
    for (CaptureThread* t = all_.load(std::memory_order_acquire); t != nullptr; t = t->next_of_all) each(t);
  }

 private:
  SpinLock lock_;
  CaptureThread* free_;
  std::atomic<CaptureThread*> all_;
};

class Prediction;

// Captures stacks. Thread-safe. Must be placed in zeroed memory; a forked child creates its own.
class StackCapture {
 public:
  // Call this before any capture, while no other thread uses the object. The innermost frames in `own` are left out of
  // every stack; of the others at most `max_frames` (<= kMaxFrames) are kept. `stacks` and `modules` are not owned and
  // must outlive this object.
  void Prepare(size_t max_frames, const CodeRange& own, StackTable* stacks, ModuleMap* modules);

  // Returns the number of the caller's stack, which is at least 1, or 0 if the stack could not be recorded. The stack
  // ends with the first frame in `last`, which may be null but not an empty range. May set through_signal and
  // modules_changed of `thread`, which the caller resets. Defines a new stack in `writer` first. Does not
  // allocate from the heap. Takes the loader's lock on its list of objects briefly, but only for code that it has not
  // seen before and for stacks that need the cursor. May be called in a signal handler, unless that handler may have
  // interrupted a capture of the same thread.
  uint32_t Take(CaptureThread* thread, const CodeRange* last, EventWriter* writer);

  CaptureThreads& threads() { return threads_; }
  const StackRecords& records() const { return records_; }

  // Add the counts of one thread, or of all threads, since the last call to the counters in the file's header page.
  void Publish(CaptureThread* thread, TraceFile* file) const;
  void PublishAll(TraceFile* file) const;

 private:
  // The arguments of one capture.
  struct Request {
    Registers start;
    CodeRange last;
    uint32_t epoch;
    EventWriter* writer;

    uint32_t RecordEpoch() const { return StackCapture::RecordEpoch(epoch, last.end != last.begin); }
  };

  // Separates the records of stacks that end in `last` from those of whole stacks.
  static uint32_t RecordEpoch(uint32_t epoch, bool has_last) { return epoch << 1 | uint32_t{has_last}; }

  // `index` is that of the guess that did not hold, 0 if none was tried.
  uint32_t TakeSlowly(const Registers& start, const CodeRange* last, uint32_t index, CaptureThread* thread,
                      EventWriter* writer);
  uint32_t TakeAnyWay(Request request, uint32_t index, CaptureThread* thread);

  // Walk the stack with rules, on the thread's own stack or on another one. Both return the stack's number, or 0.
  uint32_t Walk(const Request& request, CaptureThread* thread, Prediction* prediction);
  uint32_t WalkForeign(const Request& request, CaptureThread* thread);
  // Walks into thread->walk. The memory from start.sp to `limit` must be readable.
  WalkEnd WalkTo(const Request& request, uint64_t limit, CaptureThread* thread);
  // Walks the stack with libunwind's cursor and returns its number, or 0. Counts `why`.
  uint32_t Step(const Request& request, CaptureCount why, CaptureThread* thread);

  size_t max_frames_;
  CodeRange own_;
  StackTable* stacks_;
  ModuleMap* modules_;
  StackRecords records_;
  CaptureThreads threads_;
  RuleTable rules_;
};

// Returns the addresses of the code of the program or library that this is linked into.
CodeRange OwnCode();

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_CAPTURE_H_
