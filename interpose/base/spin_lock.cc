// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/spin_lock.h"

#include "interpose/base/system_call.h"

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

__thread uint32_t current_thread __attribute__((tls_model("initial-exec"))) = 0;

void NoteCurrentThread() { current_thread = ThreadId(); }

bool Patience::Lasts(uint32_t thread, uint32_t turn) {
  if (thread != 0 && thread == current_thread) return false;
  uint64_t cpu_ns = 0;
  if (thread != 0 && !ThreadCpuNs(thread, &cpu_ns)) return false;
  if (!watching_ || thread != thread_ || turn != turn_) {
    watching_ = true;
    thread_ = thread;
    turn_ = turn;
    asleep_ = 0;
    first_cpu_ns_ = last_cpu_ns_ = cpu_ns;
    return true;
  }
  asleep_ = cpu_ns != last_cpu_ns_ ? 0 : asleep_ + 1;
  last_cpu_ns_ = cpu_ns;
  return asleep_ <= kMostLooks && cpu_ns - first_cpu_ns_ <= kMostCpuNs;
}

}  // namespace vramtrack
