// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_SPIN_LOCK_H_
#define INTERPOSE_BASE_SPIN_LOCK_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/system_call.h"

namespace vramtrack {

// The kernel's id of the calling thread, 0 before NoteCurrentThread. It is kept because a sandbox may forbid gettid.
extern __thread uint32_t current_thread __attribute__((tls_model("initial-exec")));

// Sets current_thread. Each thread calls it before it takes locks, and again in a forked child.
void NoteCurrentThread();

// Decides how long a thread waits for the holder of a lock: as long as the holder makes progress, measured in processor
// time. Load alone never ends the wait: the more threads compete for a processor, the rarer are the checks. The wait
// ends if the holder has exited, if it sleeps (a signal handler may have interrupted it until the waiting thread is
// done), or if it has left the lock by longjmp and computes something else. Use one object per waiting thread; not
// thread-safe.
class Patience {
 public:
  // The time to sleep between two calls of Lasts.
  static constexpr uint32_t kLookEveryNs = 50000000;

  // Returns whether to continue to wait for `thread` (its kernel id, 0 if unknown), which holds the lock for the
  // `turn`-th time. Call it every kLookEveryNs. Returns false at once for the calling thread itself and for a thread
  // that has exited.
  bool Lasts(uint32_t thread, uint32_t turn);

 private:
  // The wait ends after this many checks without processor time of the holder: ten seconds, or more if the waiting
  // thread itself rarely runs.
  static constexpr uint32_t kMostLooks = 200;
  // The wait ends when the holder has used this much processor time: no lock is legitimately held that long.
  static constexpr uint64_t kMostCpuNs = 10000000000;

  uint32_t thread_ = 0, turn_ = 0, asleep_ = 0;
  bool watching_ = false;
  uint64_t first_cpu_ns_ = 0, last_cpu_ns_ = 0;
};

// A lock for rare paths (sealing a block, a new thread). It spins briefly, then sleeps until the lock is free. Never
// hold it while calling code outside of this library. A thread waits as long as the holder makes progress (see
// Patience), not for a fixed time, so that load alone never makes it give up. It does not wait forever, because the
// holder may have been interrupted by a signal handler that waits for us, or have left by longjmp. Zero-initialised
// memory is a free lock.
class SpinLock {
 public:
  bool TryLock() {
    uint32_t free = kFree;
    if (!state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return false;
    Took();
    return true;
  }
  // Returns false if the holder makes no progress. After one thread has given up, Lock returns false at once until the
  // lock has been free again.
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

  // Returns whether the lock is held. If it is not, nothing that it guards may be touched.
  bool held() const { return lock_ != nullptr; }

 private:
  SpinLock* lock_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_SPIN_LOCK_H_
