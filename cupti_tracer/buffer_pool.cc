// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/buffer_pool.h"

#include <sched.h>
#include <sys/mman.h>

namespace vramtrack::cupti {

class BufferPool::Hold {
 public:
  explicit Hold(BufferPool* pool) : pool_(pool) {
    while (pool_->held_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Hold() { pool_->held_.store(false, std::memory_order_release); }

 private:
  BufferPool* pool_;
};

Buffer* Buffer::Of(uint8_t* data) { return reinterpret_cast<Buffer*>(data - offsetof(Buffer, data)); }

bool BufferPool::Grow() {
  {
    Hold hold(this);
    if (all_ == kMost) return false;
    ++all_;
  }
  // Faulted in here and not in the program's threads.
  void* memory =
      mmap(nullptr, sizeof(Buffer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    Hold hold(this);
    --all_;
    return false;
  }
  GiveFree(static_cast<Buffer*>(memory));
  return true;
}

Buffer* BufferPool::TakeFree() {
  Hold hold(this);
  Buffer* buffer = free_;
  if (buffer == nullptr) return nullptr;
  free_ = buffer->next;
  free_count_.fetch_sub(1, std::memory_order_relaxed);
  return buffer;
}

void BufferPool::GiveFree(Buffer* buffer) {
  Hold hold(this);
  buffer->next = free_;
  free_ = buffer;
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

void BufferPool::Complete(Buffer* buffer) {
  Hold hold(this);
  buffer->next = nullptr;
  (last_completed_ != nullptr ? last_completed_->next : first_completed_) = buffer;
  last_completed_ = buffer;
}

Buffer* BufferPool::TakeCompleted() {
  Hold hold(this);
  Buffer* buffer = first_completed_;
  if (buffer == nullptr) return nullptr;
  first_completed_ = buffer->next;
  if (first_completed_ == nullptr) last_completed_ = nullptr;
  return buffer;
}

}  // namespace vramtrack::cupti
