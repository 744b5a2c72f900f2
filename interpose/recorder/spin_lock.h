// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_SPIN_LOCK_H_
#define INTERPOSE_RECORDER_SPIN_LOCK_H_

#include <atomic>

#include "interpose/recorder/system_call.h"

namespace vramtrack {

// For the rare paths (sealing a block, a new thread). Never held while calling anything that is not ours.
class SpinLock {
 public:
  bool TryLock() { return !held_.exchange(true, std::memory_order_acquire); }
  void Lock() {
    for (int spins = 0; !TryLock(); ++spins) {
      if (spins > 64) Yield();
    }
  }
  void Unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class SpinLockHolder {
 public:
  explicit SpinLockHolder(SpinLock* lock) : lock_(lock) { lock_->Lock(); }
  ~SpinLockHolder() { lock_->Unlock(); }
  SpinLockHolder(const SpinLockHolder&) = delete;
  SpinLockHolder& operator=(const SpinLockHolder&) = delete;

 private:
  SpinLock* lock_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_SPIN_LOCK_H_
