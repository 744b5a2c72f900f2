// SPDX-License-Identifier: Apache-2.0
//
// What a thread keeps for its captures, and the pool that lends it.
#ifndef INTERPOSE_STACKS_CAPTURE_THREAD_H_
#define INTERPOSE_STACKS_CAPTURE_THREAD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/stacks/stack_region.h"
#include "interpose/stacks/stack_walk.h"

namespace vramtrack {

// How captures went. Each is counted in one of the first ones.
enum CaptureCount : size_t {
  kFirstGuesses,        // the first guess held
  kLaterGuesses,        // a guess held after one that differed
  kWalks,               // walked by rules
  kForeignWalks,        // the same, on a stack that is not the thread's own
  kSignalFrames,        // these three by libunwind's cursor: through a signal handler
  kUnusualFrames,       // through a frame that no rule can say
  kModuleChanges,       // while another thread read the loader's list after a library had gone
  kWithoutInformation,  // walks that ended at code without unwind information
  kRulesLearned,        // of these there may be several in a capture
  kRulesEvicted,
  kCaptureCounts,
};

// Zero-initialised memory is the state of a thread that has captured nothing. Used by its thread only, but for count()
// and TakeUnpublished().
class CaptureThread {
 public:
  void Count(CaptureCount which, uint64_t more = 1) {
    counts_[which].store(counts_[which].load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  uint64_t count(CaptureCount which) const { return counts_[which].load(std::memory_order_relaxed); }

  // What was counted since the last call, by whichever thread.
  uint64_t TakeUnpublished(CaptureCount which) {
    const uint64_t now = count(which);
    return now - published_[which].exchange(now, std::memory_order_relaxed);
  }

  // The count when it was last taken.
  uint64_t published(CaptureCount which) const { return published_[which].load(std::memory_order_relaxed); }

  // Guesses by what the thread captured last, as indexes of records. Those of an ended thread are as good as any.
  static constexpr int kGuessBits = 14;
  static constexpr size_t kGuessWays = 4;

  StackRegion region;
  uint32_t epoch;    // of the module map, at the last capture
  uint64_t history;  // of the last five records
  CaptureThread* next_free;
  CaptureThread* next_of_all;

  alignas(64) uint32_t guesses[size_t{1} << kGuessBits];
  StackWalk walk;  // not on the stack, which may be a small one

 private:
  std::atomic<uint64_t> counts_[kCaptureCounts], published_[kCaptureCounts];
};

// Thread-safe. Zero-initialised memory is an empty pool. What is given back goes to a later thread and is never
// unmapped.
class CaptureThreads {
 public:
  // Null where there is no memory.
  CaptureThread* Acquire();
  void Release(CaptureThread* thread);

  // Calls `each` with every thread that there was.
  template <typename Each>
  void EachThread(Each each) const {
    for (CaptureThread* t = all_.load(std::memory_order_acquire); t != nullptr; t = t->next_of_all) each(t);
  }

 private:
  SpinLock lock_;
  CaptureThread* free_;
  std::atomic<CaptureThread*> all_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_CAPTURE_THREAD_H_
