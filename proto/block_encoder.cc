// SPDX-License-Identifier: Apache-2.0
#include "proto/block_encoder.h"

#include <cstring>

#include "proto/hash.h"
#include "proto/message_writer.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

using schema::ALLOCATE;
using schema::FAIL;
using schema::FREE;
using schema::FREE_FAILED;
using schema::FREE_UNKNOWN;
using schema::MEMORY_INFO;
using schema::STEP;

uint64_t HashOf(const EventShape& s) { return Mix(Mix(Mix(0, s.word), s.bytes), s.stream); }

bool SameShape(const EventShape& a, const EventShape& b) {
  return a.word == b.word && a.bytes == b.bytes && a.stream == b.stream;
}

bool IsEvent(uint64_t word) { return OperationOf(word) < kDefineStack; }

// How many low bits every allocation address of the view has clear.
uint32_t CommonAlignment(const JournalView& view) {
  uint64_t all = 0;
  for (size_t i = 0; i < view.words;) {
    const uint64_t word = view.records[i];
    const size_t words = RecordWords(word);
    if (words == 0 || i + words > view.words) break;
    if (OperationOf(word) == ALLOCATE) all |= view.records[i + 2];
    i += words;
  }
  return all == 0 ? 0 : static_cast<uint32_t>(__builtin_ctzll(all));
}

struct StackView {
  const uint64_t* frames = nullptr;
  size_t count = 0;
};

StackView StackAt(const uint64_t* record) { return {record + 2, RecordWords(record[0]) - 2}; }

size_t SharedOuter(StackView a, StackView b) {
  size_t n = 0;
  while (n < a.count && n < b.count && a.frames[a.count - 1 - n] == b.frames[b.count - 1 - n]) ++n;
  return n;
}

void WriteStack(const uint64_t* record, StackView before, MessageWriter* out) {
  const StackView stack = StackAt(record);
  const size_t shared = SharedOuter(stack, before);
  uint8_t* message = out->Begin(schema::definitions_field::stacks);
  out->Varint(schema::stack_field::id, RefOf(record[0]));
  out->Varint(schema::stack_field::module_epoch, record[1] & 0xffffffff);
  out->Varint(schema::stack_field::truncated, record[1] >> 32 & 1);
  out->Varint(schema::stack_field::shared_outer, shared);
  uint8_t* column = out->Begin(schema::stack_field::frames);
  uint64_t previous = 0;
  for (size_t i = 0; i < stack.count - shared; ++i) {
    out->RawVarint(ZigZag(static_cast<int64_t>(stack.frames[i] - previous)));
    previous = stack.frames[i];
  }
  out->End(column);
  out->End(message);
}

}  // namespace

uint32_t BlockEncoder::ShapeReference(const EventShape& shape) {
  for (size_t slot = HashOf(shape) & slot_mask_;; slot = (slot + 1) & slot_mask_) {
    if (shape_slots_[slot] == 0) {
      shapes_[shape_count_] = shape;
      shape_slots_[slot] = static_cast<uint16_t>(++shape_count_);
      return 0;
    }
    if (SameShape(shapes_[shape_slots_[slot] - 1u], shape)) return shape_slots_[slot];
  }
}

bool BlockEncoder::ReadEvents(const JournalView& view, uint32_t time_shift, BlockSummary* summary, size_t* words_read) {
  // Half of them stay free: an event has two words at least.
  slot_mask_ = kShapeSlots - 1;
  while (slot_mask_ / 2 > view.words) slot_mask_ /= 2;
  std::memset(shape_slots_, 0, (slot_mask_ + 1) * sizeof *shape_slots_);
  shape_count_ = 0;
  address_shift_ = CommonAlignment(view);
  Column* columns[] = {&event_shape_, &event_time_, &address_, &age_, &foreign_};
  for (size_t i = 0; i < 5; ++i) columns[i]->begin = columns[i]->at = column_memory_[i];
  value_.begin = value_.at = value_memory_;

  *summary = {};
  uint64_t time = 0, address = 0, foreign = 0, ordinal = view.first_allocation;
  first_definition_ = definitions_end_ = 0;
  size_t i = 0;
  while (i < view.words) {
    const uint64_t* record = view.records + i;
    const uint64_t word = record[0];
    const size_t words = RecordWords(word);
    if (words == 0 || i + words > view.words || (!IsEvent(word) && words < 2)) break;
    i += words;
    if (!IsEvent(word)) {
      if (definitions_end_ == 0) first_definition_ = i - words;
      definitions_end_ = i;
      continue;
    }

    if (summary->events++ == 0) {
      summary->first_time = record[1];
      time = record[1] >> time_shift;
    }
    // Clocks of different cores may disagree by a hair: time does not run backwards within a thread.
    const uint64_t now = record[1] >> time_shift;
    event_time_.at = PutVarint(event_time_.at, now > time ? now - time : 0);
    if (now > time) time = now;

    EventShape shape = {word & ~EventWord(0, 0, 0, 0xff, 0), 0, 0};
    switch (OperationOf(word)) {
      case ALLOCATE:
        shape.bytes = record[3];
        if (words > 4) shape.stream = record[4];
        address_.at = PutVarint(address_.at, ZigZag(static_cast<int64_t>(record[2] - address) >> address_shift_));
        address = record[2];
        ++ordinal;
        ++summary->allocations;
        break;
      case FREE:
        if (words > 3) shape.stream = record[3];
        if (RefOf(word) == view.thread) {
          age_.at = PutVarint(age_.at, ordinal - record[2]);
        } else {
          foreign_.at = PutVarint(foreign_.at, ZigZag(static_cast<int64_t>(record[2] - foreign)));
          foreign = record[2];
        }
        break;
      case FAIL:
        shape.bytes = record[3];
        value_.at = PutVarint(value_.at, record[2]);
        break;
      default:
        for (size_t k = 2; k < words; ++k) value_.at = PutVarint(value_.at, record[k]);
    }
    event_shape_.at = PutVarint(event_shape_.at, ShapeReference(shape));
  }
  if (words_read != nullptr) *words_read = i;
  return summary->events != 0 || definitions_end_ != 0;
}

size_t BlockEncoder::WriteDefinitions(const JournalView& view, uint8_t* out, size_t capacity) const {
  MessageWriter writer(out, capacity);
  StackView before;
  for (size_t i = first_definition_; i < definitions_end_; i += RecordWords(view.records[i])) {
    const uint64_t* record = view.records + i;
    if (OperationOf(record[0]) == kDefineStack) {
      WriteStack(record, before, &writer);
      before = StackAt(record);
    } else if (OperationOf(record[0]) == kDefineEncoded) {
      const size_t room = 8 * (RecordWords(record[0]) - 2);
      writer.Raw(record + 2, record[1] < room ? record[1] : room);
    }
  }
  return writer.overflowed() ? 0 : writer.size();
}

uint8_t* BlockEncoder::Encode(const JournalView& view, uint32_t time_shift, size_t* frame_bytes, BlockSummary* summary,
                              size_t* words_read, bool with_generation) {
  namespace f = schema::block_field;
  size_t words = 0;
  *frame_bytes = 0;
  const bool anything = ReadEvents(view, time_shift, summary, &words);
  if (words_read != nullptr) *words_read = words;
  if (!anything) return frame_;

  uint8_t* payload = frame_ + kSealedPrefixBytes;
  MessageWriter out(payload, sizeof frame_ - kSealedPrefixBytes);
  static_assert(f::generation << 3 < 0x80, "its tag takes one byte");
  if (with_generation) out.Fixed32(f::generation, 0);
  out.Varint(f::thread, view.thread);
  out.Varint(f::first_sequence, view.first_sequence);
  out.Varint(f::first_allocation, view.first_allocation);
  out.Varint(f::first_time, summary->first_time);
  out.Varint(f::time_shift, time_shift);
  out.Varint(f::address_shift, address_shift_);
  out.Varint(f::event_count, summary->events);
  out.Varint(f::allocation_count, summary->allocations);

  // Definitions are usually few; they are written where they belong, behind a length that is filled in afterwards.
  uint8_t* length = out.Begin(f::definitions);
  const size_t used = out.size();
  summary->definitions_offset = static_cast<uint32_t>(kSealedPrefixBytes + used);
  summary->definition_bytes =
      static_cast<uint32_t>(WriteDefinitions(view, payload + used, sizeof frame_ - kSealedPrefixBytes - used));
  MessageWriter rest(payload + used + summary->definition_bytes,
                     sizeof frame_ - kSealedPrefixBytes - used - summary->definition_bytes);
  PutPaddedVarint(length, summary->definition_bytes, MessageWriter::kLengthBytes);

  const auto shape_column = [&](uint32_t field, auto value) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < shape_count_; ++i) any |= value(shapes_[i]);
    if (any == 0) return;
    uint8_t* column = rest.Begin(field);
    for (uint32_t i = 0; i < shape_count_; ++i) rest.RawVarint(value(shapes_[i]));
    rest.End(column);
  };
  shape_column(f::shape_call, [](const EventShape& s) { return ShapeCall(OperationOf(s.word), KindOf(s.word)); });
  shape_column(f::shape_device, [](const EventShape& s) { return DeviceOf(s.word); });
  shape_column(f::shape_stack, [](const EventShape& s) { return RefOf(s.word); });
  shape_column(f::shape_bytes, [](const EventShape& s) { return s.bytes; });
  shape_column(f::shape_stream, [](const EventShape& s) { return s.stream; });
  rest.Bytes(f::event_shape, event_shape_.begin, event_shape_.bytes());
  rest.Bytes(f::event_time, event_time_.begin, event_time_.bytes());
  rest.Bytes(f::allocation_address, address_.begin, address_.bytes());
  rest.Bytes(f::free_age, age_.begin, age_.bytes());
  rest.Bytes(f::free_foreign, foreign_.begin, foreign_.bytes());
  rest.Bytes(f::value, value_.begin, value_.bytes());
  if (rest.overflowed()) return frame_;  // cannot be: a block is never twice as long as its journal

  const size_t payload_bytes = used + summary->definition_bytes + rest.size();
  SealFrame(frame_, schema::trace_field::blocks, payload_bytes);
  *frame_bytes = kSealedPrefixBytes + payload_bytes;
  return frame_;
}

}  // namespace vramtrack
