// SPDX-License-Identifier: Apache-2.0
//
// What Parquet writes: values (apache/parquet-format, Encodings.md), and descriptions of them in Thrift.
#ifndef ANALYZER_EXPORT_PARQUET_ENCODING_H_
#define ANALYZER_EXPORT_PARQUET_ENCODING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/varint.h"

namespace vramtrack {

inline void AppendVarint(uint64_t value, std::string* out) {
  uint8_t bytes[kMaxVarintBytes];
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(PutVarint(bytes, value) - bytes));
}

// Writes one struct in Thrift's compact protocol (apache/thrift, doc/specs/thrift-compact-protocol.md), with fields in
// ascending order. The contents of a nested struct are written by a function that receives its own writer.
// Thread-compatible.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string* out) : out_(out) {}

  void Bool(int field, bool value) { Header(field, value ? kTrue : kFalse); }
  void Byte(int field, int8_t value) {
    Header(field, kByte);
    out_->push_back(static_cast<char>(value));
  }
  void I32(int field, int32_t value) { Integer(field, kI32, value); }
  void I64(int field, uint64_t value) { Integer(field, kI64, static_cast<int64_t>(value)); }
  void Binary(int field, std::string_view value) {
    Header(field, kBinary);
    Bytes(value);
  }
  // Calls write(ThriftWriter&) for the contents of the struct.
  template <typename Write>
  void Struct(int field, Write write) {
    Header(field, kStruct);
    Element(write);
  }
  void EmptyStruct(int field) {
    Struct(field, [](ThriftWriter&) {});
  }
  // Begins a list of structs. Call Element() `size` times next.
  void Structs(int field, size_t size) { List(field, kStruct, size); }
  template <typename Write>
  void Element(Write write) {
    ThriftWriter nested(out_);
    write(nested);
    nested.End();
  }
  void I32s(int field, const std::vector<int32_t>& values) {
    List(field, kI32, values.size());
    for (const int32_t value : values) AppendVarint(ZigZag(value), out_);
  }
  void Binaries(int field, const std::vector<std::string_view>& values) {
    List(field, kBinary, values.size());
    for (const std::string_view value : values) Bytes(value);
  }
  // Ends the struct, after the last field.
  void End() { out_->push_back(0); }

 private:
  enum Type : uint8_t { kTrue = 1, kFalse = 2, kByte = 3, kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  void Header(int field, Type type) {
    const int delta = field - last_;
    last_ = field;
    // The difference between neighbouring field numbers of Parquet's structs is less than sixteen.
    out_->push_back(static_cast<char>(delta << 4 | type));
  }
  void Integer(int field, Type type, int64_t value) {
    Header(field, type);
    AppendVarint(ZigZag(value), out_);
  }
  void Bytes(std::string_view value) {
    AppendVarint(value.size(), out_);
    out_->append(value);
  }
  void List(int field, Type element, size_t size) {
    Header(field, kList);
    constexpr size_t kLong = 15;
    out_->push_back(static_cast<char>(std::min(size, kLong) << 4 | element));
    if (size >= kLong) AppendVarint(size, out_);
  }

  std::string* out_;
  int last_ = 0;
};

// Returns the number of bits that `value` needs.
inline int BitWidth(uint64_t value) { return value == 0 ? 0 : 64 - __builtin_clzll(value); }

// Appends the eight bytes of each word, lowest byte first.
void AppendPlain(const std::vector<uint64_t>& words, std::string* out);
// Appends one bit for each word.
void AppendTruths(const std::vector<uint64_t>& words, std::string* out);
// Appends runs of equal values, and groups of eight values that are packed with `width` (0 to 32) bits each. Values are
// at most 2^32 - 1.
void AppendRuns(const uint64_t* values, size_t size, int width, std::string* out);

struct WordDictionary {
  std::vector<uint64_t> entries;  // in order of first occurrence
  std::vector<uint64_t> indices;
};
// Returns nullopt if there are more than `most` distinct values.
std::optional<WordDictionary> MakeDictionary(const std::vector<uint64_t>& words, size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PARQUET_ENCODING_H_
