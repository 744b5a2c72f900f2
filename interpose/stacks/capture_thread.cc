// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/capture_thread.h"

#include "interpose/base/system_call.h"

namespace vramtrack {

CaptureThread* CaptureThreads::Acquire() {
  {
    SpinLockHolder hold(&lock_);
    if (!hold.held()) return nullptr;
    if (CaptureThread* thread = free_) {
      free_ = thread->next_free;
      return thread;
    }
  }
  auto* thread = static_cast<CaptureThread*>(MapPrivate(sizeof(CaptureThread)));
  if (thread == nullptr) return nullptr;
  SpinLockHolder hold(&lock_);
  if (!hold.held()) {
    Unmap(thread, sizeof(CaptureThread));
    return nullptr;
  }
  thread->next_of_all = all_.load(std::memory_order_relaxed);
  all_.store(thread, std::memory_order_release);
  return thread;
}

void CaptureThreads::Release(CaptureThread* thread) {
  thread->region.Forget();
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return;  // it is not used again
  thread->next_free = free_;
  free_ = thread;
}

}  // namespace vramtrack
