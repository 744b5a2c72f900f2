// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_TORCH_ALLOCATOR_REQUEST_LOG_H_
#define ANALYZER_TORCH_ALLOCATOR_REQUEST_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/torch_allocator/allocator_model.h"

namespace vramtrack::torch_allocator {

// Records the requests of a program to the allocator on one device, in order, in 16 bytes each. Any number of models
// can follow the log without another replay of the trace. Thread-compatible; several threads can read a complete log.
class RequestLog {
 public:
  // Limit of recorded blocks, so that memory is bounded.
  static constexpr uint64_t kMaxBlocks = 2'000'000;

  enum class What : uint32_t {
    kAllocate,
    kFree,
    kNewSegment,         // the next block is the first of the segment with the index `value` in new_segments()
    kReserved,           // the trace has reserved `value` bytes from now on
    kLimit,              // segments may take `value` bytes from now on
    kEmptyCache,         // the `value`th release of free memory, by the program
    kReleaseForRequest,  // the same, by the allocator because the driver had refused memory
    kStepEnd,            // the end of step `value`
    kOutOfMemory,        // the request with the index `value` in failures() failed
  };
  struct Event {
    uint64_t value = 0;     // kAllocate: bytes
    uint32_t block = 0;     // kAllocate, kFree: a number that the block has while it is live
    uint32_t segment : 28;  // kAllocate: the ArenaGuess::Segment in which the block is
    What what : 4;
  };
  struct Failure {
    uint64_t ticks = 0, requested = 0;
    uint32_t segment = kNoSegment;  // the ArenaGuess::Segment in which the block would have been
  };
  static constexpr uint32_t kNoSegment = (1 << 28) - 1;

  // Add an event; ignored if the log is full.
  void Add(What what, uint64_t value, uint32_t block = 0, uint32_t segment = 0) {
    if (full()) return;
    blocks_ += what == What::kAllocate;
    Event& event = events_.emplace_back();
    event.value = value;
    event.block = block;
    event.segment = segment & kNoSegment;
    event.what = what;
  }
  void Reserved(uint64_t bytes) { AddChange(What::kReserved, bytes, &reserved_); }
  void Limit(uint64_t bytes) { AddChange(What::kLimit, bytes, &limit_); }
  void NewSegment(const SegmentHint& segment) {
    if (full()) return;
    Add(What::kNewSegment, new_segments_.size());
    new_segments_.push_back(segment);
  }
  void OutOfMemory(const Failure& failure) {
    if (full()) return;
    Add(What::kOutOfMemory, failures_.size());
    failures_.push_back(failure);
  }
  // Mark the requests of the step with the most live bytes: a program could make them before all others, to allocate
  // the segments that its largest shape needs.
  void BeginPass() { pass_begin_ = pass_end_ = events_.size(); }
  void EndPass() { pass_end_ = full() ? pass_begin_ : events_.size(); }

  const std::deque<Event>& events() const { return events_; }
  const std::vector<SegmentHint>& new_segments() const { return new_segments_; }
  const std::vector<Failure>& failures() const { return failures_; }
  // Return the range in events(); empty if it is not known.
  size_t pass_begin() const { return pass_begin_; }
  size_t pass_end() const { return pass_end_; }
  uint64_t blocks() const { return blocks_; }
  // Leaves out all that follows: what is to come repeats what was.
  void Close() { closed_ = true; }
  bool full() const { return closed_ || blocks_ >= kMaxBlocks; }

 private:
  void AddChange(What what, uint64_t bytes, uint64_t* last) {
    if (bytes != *last) Add(what, bytes);
    *last = bytes;
  }

  std::deque<Event> events_;
  std::vector<SegmentHint> new_segments_;
  std::vector<Failure> failures_;
  size_t pass_begin_ = 0, pass_end_ = 0;
  uint64_t blocks_ = 0, reserved_ = 0, limit_ = UINT64_MAX;
  bool closed_ = false;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_REQUEST_LOG_H_
