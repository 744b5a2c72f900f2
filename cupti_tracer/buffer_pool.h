// SPDX-License-Identifier: Apache-2.0
//
// Memory that CUPTI fills with records. CUPTI asks for it in the program's threads, so it is there before.
#ifndef CUPTI_TRACER_BUFFER_POOL_H_
#define CUPTI_TRACER_BUFFER_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace vramtrack::cupti {

struct Buffer {
  static constexpr size_t kBytes = 256 << 10;

  Buffer* next;
  void* context;  // as CUPTI told when it gave the buffer back
  uint32_t stream;
  size_t valid_bytes;
  alignas(64) uint8_t data[kBytes];

  static Buffer* Of(uint8_t* data);
};

// Thread-safe; no call waits for more than a few instructions of another.
class BufferPool {
 public:
  // Of its two lists: free ones, and those that CUPTI has filled, in that order.
  bool Grow();  // one more free one; false where there are enough or there is no memory
  Buffer* TakeFree();
  void GiveFree(Buffer* buffer);
  void Complete(Buffer* buffer);
  Buffer* TakeCompleted();
  size_t free_count() const { return free_count_.load(std::memory_order_relaxed); }

  static constexpr size_t kFirst = 8;  // to begin with
  static constexpr size_t kLow = 4;    // fewer free ones: another is made ahead
  static constexpr size_t kMost = 64;

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
