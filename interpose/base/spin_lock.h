// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_SPIN_LOCK_H_
#define INTERPOSE_BASE_SPIN_LOCK_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/system_call.h"

namespace vramtrack {

// The calling thread's number as the kernel has it, 0 before NoteCurrentThread. A sandbox may forbid to ask each time.
extern __thread uint32_t current_thread __attribute__((tls_model("initial-exec")));

// To be called by a thread before it takes locks; again in a forked child.
void NoteCurrentThread();

// How long a thread waits for another one's turn to end: for as long as that one gets on. A loaded machine is no reason
// to give up, however slow it is: the more threads want a processor, the rarer are the looks. A thread is one that is
// gone, that sleeps (a signal handler stops it until we are done), or that has left by longjmp and computes something
// else. For one waiting thread; not thread-safe.
class Patience {
 public:
  // How long to sleep between two looks.
  static constexpr uint32_t kLookEveryNs = 50000000;

  // To be asked again and again, kLookEveryNs apart: whether to wait on for `thread` (its number, 0 for not known)
  // whose turn is `turn`. False at once for the calling thread itself, and for one that has ended.
  bool Lasts(uint32_t thread, uint32_t turn);

 private:
  // At a thread that uses no processor time: ten seconds, more where the waiting thread itself hardly gets on.
  static constexpr uint32_t kMostLooks = 200;
  // Of the processor: no turn takes that much.
  static constexpr uint64_t kMostCpuNs = 10000000000;

  uint32_t thread_ = 0, turn_ = 0, asleep_ = 0;
  bool watching_ = false;
  uint64_t first_cpu_ns_ = 0, last_cpu_ns_ = 0;
};

// For the rare paths (sealing a block, a new thread). Spins a little, then sleeps until it is free. Never held while
// calling anything that is not ours. A thread waits as long as the holder gets on (Patience), not for a time: under
// load nothing is given up. But not for ever either, because the holder may have been stopped by a signal until we are
// done, or have left by longjmp. Zero-initialised memory is a free lock.
class SpinLock {
 public:
  bool TryLock() {
    uint32_t free = kFree;
    if (!state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return false;
    Took();
    return true;
  }
  // False where the holder does not get on, and at once as long as a lock that was given up once is still held.
  bool Lock() {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (TryLock()) return true;
    }
    return LockSlowly();
  }
  void Unlock() {
    holder_.store(0, std::memory_order_relaxed);
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) WakeOne(&state_);
  }

 private:
  static constexpr int kSpins = 64;
  static constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;

  bool LockSlowly();
  void Took() {
    holder_.store(current_thread, std::memory_order_relaxed);
    turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (__builtin_expect(given_up_.load(std::memory_order_relaxed), 0)) {
      given_up_.store(false, std::memory_order_relaxed);
    }
  }

  std::atomic<uint32_t> state_{kFree};
  std::atomic<uint32_t> holder_{0}, turn_{0};
  std::atomic<bool> given_up_{false};
};

class SpinLockHolder {
 public:
  explicit SpinLockHolder(SpinLock* lock) : lock_(lock->Lock() ? lock : nullptr) {}
  ~SpinLockHolder() {
    if (lock_ != nullptr) lock_->Unlock();
  }
  SpinLockHolder(const SpinLockHolder&) = delete;
  SpinLockHolder& operator=(const SpinLockHolder&) = delete;

  // False: it could not be had; nothing that it guards may be touched.
  bool held() const { return lock_ != nullptr; }

 private:
  SpinLock* lock_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_SPIN_LOCK_H_
