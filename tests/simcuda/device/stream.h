// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_STREAM_H_
#define TESTS_SIMCUDA_DEVICE_STREAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace vramtrack::simcuda {

struct Context;
struct Capture;

// Work on a stream is done when it is submitted, but events may become ready later (SIMCUDA_EVENT_DELAY_US); a stream
// is busy until the last of its own. All members but the constant ones may be used by several threads.
struct Stream {
  Stream(Context* context, unsigned flags, int priority, uint64_t id)
      : context(context), flags(flags), priority(priority), id(id) {}

  Context* const context;
  const unsigned flags;
  const int priority;
  const uint64_t id;

  std::atomic<int64_t> busy_until_ns{0};

  // The capture that this stream takes part in.
  void SetCapture(std::shared_ptr<Capture> capture);
  std::shared_ptr<Capture> GetCapture();
  bool IsCapturing() const { return capturing_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> capturing_{false};
  std::mutex capture_mutex_;
  std::shared_ptr<Capture> capture_;
};

struct Event {
  Event(Context* context, unsigned flags) : context(context), flags(flags) {}

  Context* const context;
  const unsigned flags;
  std::atomic<bool> recorded{false};
  std::atomic<int64_t> ready_at_ns{0};

  // Set while the last record was part of a capture.
  std::mutex capture_mutex;
  std::weak_ptr<Capture> capture;
  std::atomic<bool> captured{false};
};

// Raises `value` to `at_least`.
void RaiseTo(std::atomic<int64_t>* value, int64_t at_least);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_STREAM_H_
