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

// A stream. Work is done when it is submitted, but events may become ready later (SIMCUDA_EVENT_DELAY_US). A stream is
// busy until its last event is ready. Thread-safe.
struct Stream {
  Stream(Context* context, unsigned flags, int priority, uint64_t id)
      : context(context), flags(flags), priority(priority), id(id) {}

  Context* const context;
  const unsigned flags;
  const int priority;
  const uint64_t id;

  std::atomic<int64_t> busy_until_ns{0};

  // Set and return the capture to which this stream belongs; null for none.
  void SetCapture(std::shared_ptr<Capture> capture);
  std::shared_ptr<Capture> GetCapture();
  bool IsCapturing() const { return capturing_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> capturing_{false};
  std::mutex capture_mutex_;
  std::shared_ptr<Capture> capture_;
};

// An event. Thread-safe, except that `capture` is guarded by `capture_mutex`.
struct Event {
  Event(Context* context, unsigned flags) : context(context), flags(flags) {}

  Context* const context;
  const unsigned flags;
  std::atomic<bool> recorded{false};
  std::atomic<int64_t> ready_at_ns{0};

  // The capture of the last record, if it was part of one.
  std::mutex capture_mutex;
  std::weak_ptr<Capture> capture;
  std::atomic<bool> captured{false};
};

// Raises `*value` to `at_least` if it is smaller. Thread-safe.
void RaiseTo(std::atomic<int64_t>* value, int64_t at_least);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_STREAM_H_
