// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/stream.h"

#include <utility>

namespace vramtrack::simcuda {

void Stream::SetCapture(std::shared_ptr<Capture> capture) {
  std::lock_guard<std::mutex> lock(capture_mutex_);
  capturing_.store(capture != nullptr, std::memory_order_release);
  capture_ = std::move(capture);
}

std::shared_ptr<Capture> Stream::GetCapture() {
  if (!IsCapturing()) return nullptr;
  std::lock_guard<std::mutex> lock(capture_mutex_);
  return capture_;
}

void RaiseTo(std::atomic<int64_t>* value, int64_t at_least) {
  int64_t seen = value->load(std::memory_order_relaxed);
  while (seen < at_least && !value->compare_exchange_weak(seen, at_least, std::memory_order_relaxed)) {
  }
}

}  // namespace vramtrack::simcuda
