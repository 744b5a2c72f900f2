// SPDX-License-Identifier: Apache-2.0
//
// Reads the events of one Block in order, straight from its columns. Nothing is copied: the block's bytes must outlive
// the decoder. Every length and index in the block is checked.
#ifndef PROTO_BLOCK_DECODER_H_
#define PROTO_BLOCK_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/schema_constants.h"
#include "proto/varint.h"

namespace vramtrack {

// The fields of a Block before its columns.
struct BlockHeader {
  uint32_t thread = 0;
  uint64_t first_sequence = 0;
  uint64_t first_allocation = 0;
  uint64_t first_time = 0;
  uint32_t time_shift = 0;
  uint32_t address_shift = 0;
  uint32_t event_count = 0;
  uint32_t allocation_count = 0;
  uint32_t generation = 0;         // 0 without one
  std::string_view definitions;    // an encoded Definitions message
  uint32_t operations = 0;         // bit 1 << o is set if events of operation o are in it
  bool has_pinned_blocks = false;  // some are allocated in it
  uint64_t framework_devices = 0;  // bit 1 << d is set if a framework's blocks on device d are allocated in it; d < 64
};

struct DecodedShape {
  uint32_t operation;  // schema::Operation
  uint32_t kind;       // schema::Kind
  uint32_t device;
  uint32_t ref;  // stack, or for FREE the allocating thread
  uint64_t bytes;
  uint64_t stream;
};

struct DecodedEvent {
  const DecodedShape* shape;
  uint64_t time;     // ticks, rounded down to the block's unit
  uint64_t ordinal;  // ALLOCATE: its own; FREE: the allocation's, within thread shape->ref
  uint64_t address;  // ALLOCATE
  uint64_t value[2];
};

// Thread-compatible. `payload` is the part of a Block frame after its checksum.
class BlockDecoder {
 public:
  // Reads only the header. False if it is malformed.
  static bool ReadHeader(std::string_view payload, BlockHeader* header);

  // Reads the thread and the first sequence number of a truncated block. False if it ends before both are certain.
  static bool ReadOrigin(std::string_view beginning, uint32_t* thread, uint64_t* first_sequence);

  // Begins a block. False, with `error()` set, if it is malformed.
  bool Open(std::string_view payload);
  const BlockHeader& header() const { return header_; }
  const std::vector<DecodedShape>& shapes() const { return shapes_; }

  // Reads the next event. False after the last, or with `error()` set if the columns are inconsistent.
  bool Next(DecodedEvent* event) {
    if (left_ == 0) return false;
    --left_;
    uint64_t shape, delta;
    if (!Read(&event_shape_, &shape) || !Read(&event_time_, &delta)) return Fail();
    const uint64_t row = shape == 0 ? next_shape_++ : shape - 1;
    if (row >= shapes_.size()) return Fail();
    time_ += delta;
    const DecodedShape& s = shapes_[row];
    event->shape = &s;
    event->time = time_ << header_.time_shift;
    uint64_t v;
    if (s.operation == schema::ALLOCATE) {
      if (!Read(&address_column_, &v)) return Fail();
      address_ += static_cast<uint64_t>(UnZigZag(v)) << header_.address_shift;
      event->address = address_;
      event->ordinal = ordinal_++;
      return true;
    }
    if (s.operation == schema::FREE) {
      if (s.ref == header_.thread) {
        if (!Read(&age_, &v)) return Fail();
        event->ordinal = ordinal_ - v;
        return true;
      }
      if (!Read(&foreign_column_, &v)) return Fail();
      event->ordinal = foreign_ += static_cast<uint64_t>(UnZigZag(v));
      return true;
    }
    return ReadValues(s.operation, event);
  }

  // Empty without an error.
  const char* error() const { return error_; }

 private:
  struct Cursor {
    const uint8_t* at = nullptr;
    const uint8_t* end = nullptr;
  };

  static bool Read(Cursor* cursor, uint64_t* value) {
    const uint8_t* p = cursor->at;
    if (cursor->end - p >= 2) {  // nearly every value has one or two bytes
      if (p[0] < 0x80) {
        *value = p[0];
        cursor->at = p + 1;
        return true;
      }
      if (p[1] < 0x80) {
        *value = (p[0] & 0x7f) | static_cast<uint64_t>(p[1]) << 7;
        cursor->at = p + 2;
        return true;
      }
    }
    return GetVarint(&cursor->at, cursor->end, value);
  }

  bool ReadValues(uint32_t operation, DecodedEvent* event);
  static constexpr int kShapeColumns = 5;
  bool ReadShapes(const Cursor (&columns)[kShapeColumns]);
  bool Fail();

  BlockHeader header_;
  std::vector<DecodedShape> shapes_;
  Cursor event_shape_, event_time_, address_column_, age_, foreign_column_, value_;
  uint64_t time_ = 0, address_ = 0, ordinal_ = 0, foreign_ = 0;
  uint32_t left_ = 0;
  uint64_t next_shape_ = 0;  // the first unused row
  const char* error_ = "";
};

}  // namespace vramtrack

#endif  // PROTO_BLOCK_DECODER_H_
