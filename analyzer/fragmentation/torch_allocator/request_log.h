// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_REQUEST_LOG_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_REQUEST_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/allocator_model.h"

namespace vramtrack::torch_allocator {

// What a program asked of the allocator on one device, in order, in two to five bytes a request: any number of models
// can follow it without another replay of the trace. Thread-compatible; a complete log can be read by several threads.
class RequestLog {
 public:
  // Further blocks are not recorded, so that memory is bounded.
  static constexpr uint64_t kMaxBlocks = 2'000'000;

  struct Event {
    enum class What : uint8_t {
      kAllocate,
      kFree,
      kNewSegment,   // the next block is the first of a segment of `bytes` at the address `value`
      kReserved,     // from now on the trace has reserved `bytes`
      kLimit,        // from now on segments may take `bytes`
      kGiveBack,     // of free memory, for the `value`th time
      kStepEnd,      // of step `value`
      kTold,         // the allocator itself says that it has reserved `bytes`
      kOutOfMemory,  // it has given up on a request of `bytes` at the tick `value`
    };
    What what = What::kAllocate;
    bool after_refusal = false;  // kGiveBack
    uint32_t slot = 0;           // kAllocate, kFree: a number that the block has while it lives
    uint32_t segment = 0;  // kAllocate, kOutOfMemory: where the block lies, where it would have; ArenaGuess::Segment
    uint64_t bytes = 0, value = 0;
  };
  static constexpr uint32_t kNoSegment = UINT32_MAX;

  // Ignored once the log is full. `block`: a number of the caller's that the block has while it lives.
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
  uint64_t out_of_memory() const { return out_of_memory_; }  // events of this kind

  class Reader;

 private:
  static constexpr size_t kChunkBytes = 64 << 10, kMaxEventBytes = 64;
  static constexpr uint32_t kShapes = 4096;
  // Of what a request is a repetition. Writer and reader keep the same table.
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
  // Blocks come after this any more only if the first step has not ended: models are then still to act on its end.
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

  // False at the end.
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
