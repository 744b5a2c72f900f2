// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/spin_lock.h"

namespace vramtrack {

bool SpinLock::LockSlowly() {
  Patience patience;
  while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
    if (given_up_.load(std::memory_order_relaxed)) return false;
    const uint32_t holder = holder_.load(std::memory_order_relaxed);
    if (!patience.Lasts(holder, turn_.load(std::memory_order_relaxed)) &&
        holder == holder_.load(std::memory_order_relaxed)) {
      given_up_.store(true, std::memory_order_relaxed);
      return false;
    }
    WaitWhile(&state_, kAwaited, Patience::kLookEveryNs);
  }
  Took();
  return true;
}

}  // namespace vramtrack
