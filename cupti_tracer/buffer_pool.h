// SPDX-License-Identifier: Apache-2.0
//
// Buffers that CUPTI fills with records. CUPTI asks for buffers in the program's threads, so they are allocated in
// advance by another thread.
#ifndef CUPTI_TRACER_BUFFER_POOL_H_
#define CUPTI_TRACER_BUFFER_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace vramtrack::cupti {

// A buffer and what CUPTI reported when it returned it.
struct Buffer {
  static constexpr size_t kBytes = 256 << 10;

  Buffer* next;
  // CUPTI reports these when it returns the buffer.
  void* context;
  uint32_t stream;
  size_t valid_bytes;
  alignas(64) uint8_t data[kBytes];

  // Returns the buffer whose `data` this is.
  static Buffer* Of(uint8_t* data);
};

// A list of free buffers, and a queue of buffers that CUPTI has filled. Thread-safe; a call waits for at most a few
// instructions of another call. Owns the buffers, and never frees them.
class BufferPool {
 public:
  // Allocates one more free buffer. Returns false if there are kMost already, or if memory cannot be allocated.
  bool Grow();
  // Returns a free buffer, or null if there is none.
  Buffer* TakeFree();
  void GiveFree(Buffer* buffer);
  // Appends a filled buffer to the queue.
  void Complete(Buffer* buffer);
  // Returns the oldest filled buffer, or null if there is none.
  Buffer* TakeCompleted();
  size_t free_count() const { return free_count_.load(std::memory_order_relaxed); }

  static constexpr size_t kFirst = 8;  // buffers at the start
  static constexpr size_t kLow = 4;    // below this number of free buffers more are allocated in advance
  static constexpr size_t kMost = 64;  // buffers at most

 private:
  class Hold;

  std::atomic<bool> held_{false};
  Buffer* free_ = nullptr;
  Buffer* first_completed_ = nullptr;
  Buffer* last_completed_ = nullptr;
  size_t all_ = 0;
  std::atomic<size_t> free_count_{0};
};

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_BUFFER_POOL_H_
