// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/capture_thread.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "interpose/base/system_call.h"

namespace vramtrack {
namespace {

constexpr uint64_t kPageBytes = 4096;  // the smallest there is
// Farther apart than this are a thread's stack and another one, not two places of a stack.
constexpr uint64_t kMaxDistance = 64 << 20;

}  // namespace

bool StackRegion::AllReadable(uint64_t from, uint64_t to) {
  if (unreadable_ >= from && unreadable_ < to && !IsReadable(unreadable_)) return false;
  for (uint64_t page = from & ~(kPageBytes - 1); page < to; page += kPageBytes) {
    if (!IsReadable(page)) {
      unreadable_ = page;
      return false;
    }
  }
  return true;
}

uint64_t StackRegion::ReadableEnd(uint64_t sp, uint64_t bytes) {
  uint64_t page = (sp & ~(kPageBytes - 1)) + kPageBytes;  // the first one has the present frame
  while (page < sp + bytes && IsReadable(page)) page += kPageBytes;
  return page;
}

bool StackRegion::Extend(uint64_t sp) {
  if (sp % 8 != 0) return false;
  if (end_ != 0) {
    if (sp >= low_ || low_ - sp > kMaxDistance || !AllReadable(sp, low_)) return false;
    low_ = sp & ~(kPageBytes - 1);
    return true;
  }
  // The first thread's block is not on its stack. Neither holds for a child that another thread has forked: its stack
  // counts as foreign.
  const bool first = ThreadId() == static_cast<uint32_t>(getpid());
  const uint64_t end = (first ? getauxval(AT_RANDOM) : static_cast<uint64_t>(pthread_self())) & ~uint64_t{7};
  if (sp >= end || end - sp > kMaxDistance || !AllReadable(sp, end)) return false;
  low_ = sp & ~(kPageBytes - 1);
  end_ = end;
  return true;
}

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
