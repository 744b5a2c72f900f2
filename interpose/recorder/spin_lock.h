// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_SPIN_LOCK_H_
#define INTERPOSE_RECORDER_SPIN_LOCK_H_

#include <atomic>

#include "interpose/recorder/clock.h"
#include "interpose/recorder/system_call.h"

namespace vramtrack {

// For the rare paths (sealing a block, a new thread). Never held while calling anything that is not ours. Nor does
// anybody wait for ever: the holder may have been stopped by a signal until we are done, or may never run beside a
// thread of higher priority, or have left by longjmp.
class SpinLock {
 public:
  bool TryLock() { return !held_.exchange(true, std::memory_order_acquire); }
  // False after ten seconds, which a full disk queue or a thousand threads do not take, and at once as long as a lock
  // that was given up once is still held.
  bool Lock() {
    uint64_t start = 0;
    for (int spins = 0; !TryLock(); ++spins) {
      if (spins <= kSpins) continue;
      if (given_up_.load(std::memory_order_relaxed)) return false;
      const uint64_t now = MonotonicNs();
      if (start == 0) start = now;
      if (now - start > kPatienceNs) {
        given_up_.store(true, std::memory_order_relaxed);
        return false;
      }
      // Yielding alone lets a thousand waiting threads run in turn before the one that holds the lock.
      spins < kYields ? Yield() : Nap(kNapNs);
    }
    if (__builtin_expect(given_up_.load(std::memory_order_relaxed), 0)) {
      given_up_.store(false, std::memory_order_relaxed);
    }
    return true;
  }
  void Unlock() { held_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 64, kYields = kSpins + 16;
  static constexpr uint32_t kNapNs = 50000;
  static constexpr uint64_t kPatienceNs = 10000000000;

  std::atomic<bool> held_{false};
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

#endif  // INTERPOSE_RECORDER_SPIN_LOCK_H_
