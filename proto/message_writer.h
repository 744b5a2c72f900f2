// SPDX-License-Identifier: Apache-2.0
//
// Writes a protobuf message into memory that the caller owns. For code inside the traced process: no allocation, no
// exceptions. What does not fit is dropped: check `overflowed()` at the end.
#ifndef PROTO_MESSAGE_WRITER_H_
#define PROTO_MESSAGE_WRITER_H_

#include <cstring>

#include "proto/varint.h"

namespace vramtrack {

class MessageWriter {
 public:
  MessageWriter(uint8_t* begin, size_t capacity) : begin_(begin), at_(begin), end_(begin + capacity) {}

  void Varint(uint32_t field, uint64_t value) {
    if (value == 0) return;  // proto3: the default is not written
    Tag(field, 0);
    RawVarint(value);
  }
  void SignedVarint(uint32_t field, int64_t value) { Varint(field, ZigZag(value)); }
  void Fixed32(uint32_t field, uint32_t value) {
    Tag(field, 5);
    Raw(&value, sizeof value);
  }
  void Fixed64(uint32_t field, uint64_t value) {
    Tag(field, 1);
    Raw(&value, sizeof value);
  }
  void Bytes(uint32_t field, const void* data, size_t size) {
    Tag(field, 2);
    RawVarint(size);
    Raw(data, size);
  }
  void String(uint32_t field, const char* text) {
    const size_t size = std::strlen(text);
    if (size != 0) Bytes(field, text, size);
  }

  // A nested message: everything written between Begin and End. The length always takes four bytes.
  static constexpr int kLengthBytes = 4;
  uint8_t* Begin(uint32_t field) {
    Tag(field, 2);
    uint8_t* length = at_;
    if (Room(kLengthBytes)) at_ += kLengthBytes;
    return length;
  }
  void End(uint8_t* length) {
    if (!overflowed_) PutPaddedVarint(length, static_cast<uint64_t>(at_ - length - kLengthBytes), kLengthBytes);
  }

  void Tag(uint32_t field, uint32_t wire_type) { RawVarint(field << 3 | wire_type); }
  void RawVarint(uint64_t value) {
    uint8_t bytes[kMaxVarintBytes];
    Raw(bytes, static_cast<size_t>(PutVarint(bytes, value) - bytes));
  }
  void Raw(const void* data, size_t size) {
    if (!Room(size)) return;
    std::memcpy(at_, data, size);
    at_ += size;
  }

  size_t size() const { return static_cast<size_t>(at_ - begin_); }
  bool overflowed() const { return overflowed_; }

 private:
  bool Room(size_t bytes) {
    if (!overflowed_ && static_cast<size_t>(end_ - at_) >= bytes) return true;
    overflowed_ = true;
    return false;
  }

  uint8_t* begin_;
  uint8_t* at_;
  uint8_t* end_;
  bool overflowed_ = false;
};

}  // namespace vramtrack

#endif  // PROTO_MESSAGE_WRITER_H_
