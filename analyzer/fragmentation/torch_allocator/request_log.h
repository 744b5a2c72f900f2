// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_REQUEST_LOG_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_REQUEST_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/allocator_model.h"
#include "analyzer/fragmentation/torch_allocator/arenas.h"

namespace vramtrack::torch_allocator {

// Records the requests and frees, in order, of the step with the most live bytes. Such a pass before all others
// allocates the segments that the largest shape needs. Thread-compatible.
class LargestPass {
 public:
  struct Event {
    uint32_t block = 0;  // a number that identifies the block while it is live
    uint64_t bytes = 0;  // 0 if the block is freed
    Name segment;        // the segment of the block
  };

  void Allocate(uint32_t block, uint64_t bytes, Name segment) { Add({block, bytes, segment}); }
  // Records a free. Blocks from before the step may be passed; readers must skip them.
  void Free(uint32_t block) { Add({block, 0, {}}); }

  // Returns the events; empty if nothing was recorded, or too much.
  const std::vector<Event>& events() const { return events_; }

 private:
  static constexpr size_t kMaxEvents = 200'000;

  void Add(const Event& event) {
    if (too_many_) return;
    events_.push_back(event);
    if (events_.size() < kMaxEvents) return;
    events_ = {};
    too_many_ = true;
  }

  std::vector<Event> events_;
  bool too_many_ = false;
};

// Records the requests of a program to the allocator on one device, in order, in two to five bytes each. Any number of
// models can follow the log without another replay of the trace. Thread-compatible; several threads can read a
// complete log.
class RequestLog {
 public:
  // Limit of recorded blocks, so that memory is bounded.
  static constexpr uint64_t kMaxBlocks = 2'000'000;

  struct Event {
    enum class What : uint8_t {
      kAllocate,
      kFree,
      kNewSegment,   // the next block is the first of a segment of `bytes` at address `value`
      kReserved,     // the trace has reserved `bytes` from now on
      kLimit,        // segments may take `bytes` from now on
      kGiveBack,     // the `value`th release of free memory
      kStepEnd,      // the end of step `value`
      kTold,         // the allocator itself reports that it has reserved `bytes`
      kOutOfMemory,  // a request of `bytes` failed at tick `value`
    };
    What what = What::kAllocate;
    bool after_refusal = false;  // kGiveBack
    uint32_t slot = 0;           // kAllocate, kFree: a number that the block has while it is live
    uint32_t segment = 0;  // kAllocate, kOutOfMemory: the ArenaGuess::Segment in which the block is, or would have been
    uint64_t bytes = 0, value = 0;
  };
  static constexpr uint32_t kNoSegment = UINT32_MAX;

  // Records a block; ignored if the log is full. `block`: a number that the caller chooses and the block has while it
  // is live.
  void Allocate(uint32_t block, uint64_t bytes, uint32_t segment);
  void Free(uint32_t block);
  void NewSegment(const SegmentHint& segment);
  void Reserved(uint64_t bytes);
  void Limit(uint64_t bytes);
  void GiveBack(uint64_t number, bool after_refusal);
  void StepEnd(uint32_t step);
  void Told(uint64_t reserved);
  void OutOfMemory(uint64_t ticks, uint64_t bytes, uint32_t segment);

  uint64_t blocks() const { return blocks_; }
  bool full() const { return blocks_ >= kMaxBlocks; }
  uint64_t out_of_memory() const { return out_of_memory_; }  // returns the number of kOutOfMemory events

  class Reader;

 private:
  static constexpr size_t kChunkBytes = 64 << 10, kMaxEventBytes = 64;
  static constexpr uint32_t kShapes = 4096;
  // Size and segment of an earlier request, which later ones repeat. Writer and reader keep the same table.
  struct Shape {
    uint64_t bytes = 0;
    uint32_t segment = kNoSegment;
  };
  struct Chunk {
    size_t used = 0;
    std::array<uint8_t, kChunkBytes> bytes;
  };
  enum Tag : uint8_t { kKnownShape, kFreed, kNewShape, kOther };

  void Begin(uint64_t value, Tag tag);
  void Put(uint64_t value);
  void PutOther(Event::What what) { Begin(static_cast<uint64_t>(what), kOther); }
  // Returns whether recording has ended. A full log records no more blocks, but other events until the first step
  // ends, as models act on that end.
  bool closed() const { return full() && any_step_; }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Shape> shapes_ = std::vector<Shape>(kShapes);
  std::vector<uint32_t> slot_of_block_, unused_slots_;
  uint32_t slots_ = 0;
  uint64_t blocks_ = 0, out_of_memory_ = 0, reserved_ = 0, limit_ = UINT64_MAX;
  bool any_step_ = false;
};

class RequestLog::Reader {
 public:
  explicit Reader(const RequestLog& log) : log_(log) {}

  // Reads the next event; returns false at the end.
  bool Next(Event* event);

 private:
  uint64_t Get();

  const RequestLog& log_;
  size_t chunk_ = 0, at_ = 0;
  std::vector<Shape> shapes_ = std::vector<Shape>(kShapes);
  std::vector<uint32_t> unused_slots_;
  uint32_t slots_ = 0;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_REQUEST_LOG_H_
