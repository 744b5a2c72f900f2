// SPDX-License-Identifier: Apache-2.0
#include "proto/activity_encoder.h"

#include <cstring>

#include "proto/hash.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

namespace f = schema::activities_field;

enum Column : size_t { kShape, kTime, kCorrelation, kDuration, kAddress };

}  // namespace

uint32_t ActivityEncoder::TextId(const char* text) {
  if (text == nullptr || *text == '\0') return 0;
  const size_t size = strnlen(text, kMaxTextBytes);
  uint64_t hash = size;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<uint8_t>(text[i])) * 0x100000001b3;
  hash = Mix(hash, size);
  if (2 * texts_ > kTextSlots) ForgetTexts();
  size_t slot = hash % kTextSlots;
  for (; text_slots_[slot].id != 0; slot = (slot + 1) % kTextSlots) {
    if (text_slots_[slot].hash == hash) return text_slots_[slot].id;
  }
  MessageWriter out(texts_encoded_ + text_used_, kTextRoom - text_used_);
  uint8_t* length = out.Begin(f::texts);
  out.Varint(schema::activityText_field::id, last_text_ + 1);
  out.Bytes(schema::activityText_field::text, text, size);
  out.End(length);
  if (out.overflowed()) return 0;  // cannot be: `full` comes first
  text_used_ += out.size();
  ++texts_;
  text_slots_[slot] = {hash, ++last_text_};
  return last_text_;
}

void ActivityEncoder::ForgetTexts() {
  std::memset(text_slots_, 0, sizeof text_slots_);
  texts_ = 0;
}

uint32_t ActivityEncoder::ShapeReference(const Shape& shape) {
  uint64_t h = Mix(shape.kind | uint64_t{shape.operation} << 8, shape.memory | uint64_t{shape.device} << 32);
  h = Mix(h, shape.stream | uint64_t{shape.text} << 32);
  h = Mix(Mix(h, shape.bytes), shape.pool);
  for (size_t slot = h % kShapeSlots;; slot = (slot + 1) % kShapeSlots) {
    if (shape_slots_[slot] == 0) {
      shapes_[shape_count_] = shape;
      shape_slots_[slot] = static_cast<uint16_t>(++shape_count_);
      return 0;
    }
    const Shape& known = shapes_[shape_slots_[slot] - 1u];
    if (known.kind == shape.kind && known.operation == shape.operation && known.memory == shape.memory &&
        known.device == shape.device && known.stream == shape.stream && known.text == shape.text &&
        known.bytes == shape.bytes && known.pool == shape.pool) {
      return shape_slots_[slot];
    }
  }
}

void ActivityEncoder::Put(size_t column, uint64_t value) {
  uint8_t* at = columns_[column] + column_used_[column];
  column_used_[column] += static_cast<size_t>(PutVarint(at, value) - at);
}

void ActivityEncoder::Add(const ActivityRecord& record) {
  if (records_ == kMaxRecords) return;
  ++records_;
  Put(kShape, ShapeReference({record.kind, record.operation, record.memory, record.device, record.stream, record.text,
                              record.bytes, record.pool}));
  Put(kTime, ZigZag(static_cast<int64_t>(record.start_ns - time_)));
  time_ = record.start_ns;
  Put(kCorrelation, ZigZag(static_cast<int32_t>(record.correlation - correlation_)));
  correlation_ = record.correlation;
  if (TakesTime(record.kind)) Put(kDuration, record.duration_ns);
  if (!HasAddress(record.kind)) return;
  Put(kAddress, ZigZag(static_cast<int64_t>(record.address - address_)));
  address_ = record.address;
}

void ActivityEncoder::AddSpan(bool begins, uint64_t ticks, const char* why) {
  MessageWriter out(spans_encoded_ + span_used_, kSpanRoom - span_used_);
  uint8_t* length = out.Begin(f::spans);
  out.Varint(schema::activitySpan_field::begins, begins);
  out.Varint(schema::activitySpan_field::ticks, ticks);
  out.String(schema::activitySpan_field::why, why);
  out.End(length);
  if (!out.overflowed()) span_used_ += out.size();
}

uint8_t* ActivityEncoder::Finish(uint32_t cupti_version, ActivityTie tie, bool with_generation, size_t* frame_bytes) {
  MessageWriter out(frame_ + kSealedPrefixBytes, kFrameRoom - kSealedPrefixBytes);
  static_assert(f::generation << 3 < 0x80, "its tag takes one byte");
  if (with_generation) out.Fixed32(f::generation, 0);
  out.Varint(f::cupti_version, cupti_version);
  out.Varint(f::tie_cupti_ns, tie.cupti_ns);
  out.Varint(f::tie_ticks, tie.ticks);
  out.Varint(f::record_count, records_);
  out.Raw(texts_encoded_, text_used_);
  out.Raw(spans_encoded_, span_used_);
  const auto shape_column = [&](uint32_t field, auto member) {
    uint64_t any = 0;
    for (size_t i = 0; i < shape_count_; ++i) any |= shapes_[i].*member;
    if (any == 0) return;
    uint8_t* length = out.Begin(field);
    for (size_t i = 0; i < shape_count_; ++i) out.RawVarint(shapes_[i].*member);
    out.End(length);
  };
  shape_column(f::shape_kind, &Shape::kind);
  shape_column(f::shape_operation, &Shape::operation);
  shape_column(f::shape_memory, &Shape::memory);
  shape_column(f::shape_device, &Shape::device);
  shape_column(f::shape_stream, &Shape::stream);
  shape_column(f::shape_text, &Shape::text);
  shape_column(f::shape_bytes, &Shape::bytes);
  shape_column(f::shape_pool, &Shape::pool);
  static constexpr uint32_t kFields[kColumns] = {f::record_shape, f::record_time, f::record_correlation,
                                                 f::record_duration, f::record_address};
  for (size_t column = 0; column < kColumns; ++column) {
    if (column_used_[column] != 0) out.Bytes(kFields[column], columns_[column], column_used_[column]);
    column_used_[column] = 0;
  }
  SealFrame(frame_, schema::trace_field::activities, out.size());
  *frame_bytes = out.overflowed() ? 0 : kSealedPrefixBytes + out.size();
  std::memset(shape_slots_, 0, sizeof shape_slots_);
  records_ = shape_count_ = text_used_ = span_used_ = 0;
  time_ = address_ = correlation_ = 0;
  return frame_;
}

}  // namespace vramtrack
