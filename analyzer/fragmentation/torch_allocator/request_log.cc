// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/request_log.h"

namespace vramtrack::torch_allocator {
namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;

// Sizes are multiples of this, but those of a damaged trace.
constexpr int kGranuleBits = 9;

uint64_t Packed(uint64_t bytes) {
  constexpr uint64_t kRest = (uint64_t{1} << kGranuleBits) - 1;
  return (bytes & kRest) == 0 ? bytes >> kGranuleBits << 1 : bytes << 1 | 1;
}

uint64_t Unpacked(uint64_t packed) { return (packed & 1) == 0 ? packed >> 1 << kGranuleBits : packed >> 1; }

}  // namespace

void RequestLog::Begin(uint64_t value, Tag tag) {
  if (chunks_.empty() || chunks_.back()->used + kMaxEventBytes > kChunkBytes) {
    chunks_.push_back(std::make_unique<Chunk>());
  }
  Put(value << 2 | tag);
}

void RequestLog::Put(uint64_t value) {
  Chunk& chunk = *chunks_.back();
  for (; value >= 0x80; value >>= 7) chunk.bytes[chunk.used++] = static_cast<uint8_t>(value | 0x80);
  chunk.bytes[chunk.used++] = static_cast<uint8_t>(value);
}

void RequestLog::Allocate(uint32_t block, uint64_t bytes, uint32_t segment) {
  if (full()) return;
  ++blocks_;
  if (block >= slot_of_block_.size()) slot_of_block_.resize(block + 1, kNoSlot);
  if (unused_slots_.empty()) {
    slot_of_block_[block] = slots_++;
  } else {
    slot_of_block_[block] = unused_slots_.back();
    unused_slots_.pop_back();
  }
  const uint64_t place = ((bytes >> kGranuleBits) + uint64_t{segment} * 0x9e3779b97f4a7c15) * 0x9e3779b97f4a7c15 >> 52;
  static_assert(kShapes == 1 << 12, "12 bits are left of the product");
  Shape& shape = shapes_[place];
  if (shape.bytes == bytes && shape.segment == segment) return Begin(place, kKnownShape);
  shape = {bytes, segment};
  Begin(place, kNewShape);
  Put(Packed(bytes));
  Put(segment);
}

void RequestLog::Free(uint32_t block) {
  if (closed() || block >= slot_of_block_.size() || slot_of_block_[block] == kNoSlot) return;
  Begin(slot_of_block_[block], kFreed);
  unused_slots_.push_back(slot_of_block_[block]);
  slot_of_block_[block] = kNoSlot;
}

void RequestLog::NewSegment(const SegmentHint& segment) {
  if (full()) return;
  PutOther(Event::What::kNewSegment);
  Put(segment.bytes);
  Put(segment.address);
}

void RequestLog::Reserved(uint64_t bytes) {
  if (full() || bytes == reserved_) return;
  reserved_ = bytes;
  PutOther(Event::What::kReserved);
  Put(bytes);
}

void RequestLog::Limit(uint64_t bytes) {
  if (full() || bytes == limit_) return;
  limit_ = bytes;
  PutOther(Event::What::kLimit);
  Put(bytes);
}

void RequestLog::GiveBack(uint64_t number, bool after_refusal) {
  if (closed()) return;
  PutOther(Event::What::kGiveBack);
  Put(number);
  Put(after_refusal ? 1 : 0);
}

void RequestLog::StepEnd(uint32_t step) {
  if (closed()) return;
  any_step_ = true;
  PutOther(Event::What::kStepEnd);
  Put(step);
}

void RequestLog::Told(uint64_t reserved) {
  if (full()) return;
  PutOther(Event::What::kTold);
  Put(reserved);
}

void RequestLog::OutOfMemory(uint64_t ticks, uint64_t bytes, uint32_t segment) {
  if (full()) return;
  ++out_of_memory_;
  PutOther(Event::What::kOutOfMemory);
  Put(ticks);
  Put(bytes);
  Put(segment);
}

uint64_t RequestLog::Reader::Get() {
  const Chunk& chunk = *log_.chunks_[chunk_];
  uint64_t value = chunk.bytes[at_++];
  if (__builtin_expect(value < 0x80, 1)) return value;
  value &= 0x7f;
  for (int shift = 7;; shift += 7) {
    const uint64_t byte = chunk.bytes[at_++];
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

bool RequestLog::Reader::Next(Event* event) {
  if (chunk_ == log_.chunks_.size()) return false;
  if (at_ == log_.chunks_[chunk_]->used) {
    at_ = 0;
    if (++chunk_ == log_.chunks_.size()) return false;
  }
  const uint64_t begin = Get();
  switch (static_cast<Tag>(begin & 3)) {
    case kFreed:
      event->what = Event::What::kFree;
      event->slot = static_cast<uint32_t>(begin >> 2);
      unused_slots_.push_back(event->slot);
      return true;
    case kNewShape:
      shapes_[begin >> 2].bytes = Unpacked(Get());
      shapes_[begin >> 2].segment = static_cast<uint32_t>(Get());
      [[fallthrough]];
    case kKnownShape:
      event->what = Event::What::kAllocate;
      event->bytes = shapes_[begin >> 2].bytes;
      event->segment = shapes_[begin >> 2].segment;
      if (unused_slots_.empty()) {
        event->slot = slots_++;
      } else {
        event->slot = unused_slots_.back();
        unused_slots_.pop_back();
      }
      return true;
    case kOther:
      break;
  }
  event->what = static_cast<Event::What>(begin >> 2);
  switch (event->what) {
    case Event::What::kNewSegment:
      event->bytes = Get();
      event->value = Get();
      break;
    case Event::What::kGiveBack:
      event->value = Get();
      event->after_refusal = Get() != 0;
      break;
    case Event::What::kStepEnd:
      event->value = Get();
      break;
    case Event::What::kOutOfMemory:
      event->value = Get();
      event->bytes = Get();
      event->segment = static_cast<uint32_t>(Get());
      break;
    default:
      event->bytes = Get();
      break;
  }
  return true;
}

}  // namespace vramtrack::torch_allocator
