// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/captures.h"

#include <atomic>

#include "interpose/base/concurrent_table.h"
#include "interpose/session/session.h"

namespace vramtrack {
namespace {

constexpr int kActive = 1;  // cudaStreamCaptureStatusActive

// Numbers of captures, by their streams while they go on, by themselves likewise, and by the graphs that came of them.
// A stream's key is its handle plus one: the default one's is 0.
ConcurrentTable of_streams, active, of_graphs;
std::atomic<uint64_t> latest;

uint64_t KeyOf(const void* stream) { return reinterpret_cast<uint64_t>(stream) + 1; }

bool Known(uint64_t number) { return number != 0 && active.Find(number) != 0; }

}  // namespace

void NoteCaptureStatus(const void* stream, const int* status, const unsigned long long* number) {
  if (status == nullptr) return;
  if (*status != kActive) {
    thread_state.capture_number = 0;
    return;
  }
  uint64_t capture = number == nullptr ? of_streams.Find(KeyOf(stream)) : *number;
  if (number != nullptr && capture != 0 && active.Find(capture) == 0) {
    active.Insert(capture, 1);
    latest.store(capture, std::memory_order_relaxed);
  }
  if (number != nullptr && capture != 0) of_streams.Insert(KeyOf(stream), capture);
  // A stream that has joined the capture of another one.
  if (capture == 0) capture = latest.load(std::memory_order_relaxed);
  thread_state.capture_number = capture;
}

uint64_t CaptureOfNextSegment() {
  const uint64_t capture = thread_state.capture_number;
  return Known(capture) ? capture : 0;
}

uint64_t EndCapture(const void* stream, uint64_t graph) {
  const uint64_t capture = of_streams.Remove(KeyOf(stream));
  if (capture != 0) active.Remove(capture);
  thread_state.capture_number = 0;
  if (graph == 0) return 0;
  if (capture != 0) {
    of_graphs.Insert(graph, capture);
  } else {
    of_graphs.Remove(graph);
  }
  return capture;
}

uint64_t CaptureOfGraph(const void* graph) {
  const auto key = reinterpret_cast<uint64_t>(graph);
  return key == 0 ? 0 : of_graphs.Find(key);
}

void ForgetGraph(uint64_t graph) { of_graphs.Remove(graph); }

}  // namespace vramtrack
