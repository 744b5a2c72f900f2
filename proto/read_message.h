// SPDX-License-Identifier: Apache-2.0
//
// Reads a protobuf message into variables: each field is named once, with the variable that it goes to. Functions throw
// protozero::exception at damage; what precedes it has been read.
#ifndef PROTO_READ_MESSAGE_H_
#define PROTO_READ_MESSAGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "proto/pbf_reader.h"
#include "proto/varint.h"

namespace vramtrack {

// The varints of a packed field, which are in the message's bytes. Nothing is checked before it is taken.
class PackedColumn {
 public:
  PackedColumn() = default;
  explicit PackedColumn(std::string_view bytes)
      : at_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(at_ + bytes.size()) {}

  // Returns whether the message does not have the field.
  bool is_absent() const { return end_ == nullptr; }
  bool done() const { return at_ == end_; }
  // Takes the next value. Returns false at the end, and if it is malformed.
  bool Take(uint64_t* value) { return GetVarint(&at_, end_, value); }
  // Returns the next value; 0 if there is none.
  uint64_t Next() {
    uint64_t value = 0;
    if (!Take(&value)) at_ = end_;
    return value;
  }
  uint32_t Next32() { return static_cast<uint32_t>(Next()); }
  uint64_t NextSigned() { return static_cast<uint64_t>(UnZigZag(Next())); }

 private:
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
};

// How a value is read, by the type of its variable.
inline void GetValue(protozero::pbf_reader& in, bool* to) { *to = in.get_bool(); }
inline void GetValue(protozero::pbf_reader& in, uint32_t* to) { *to = in.get_uint32(); }
inline void GetValue(protozero::pbf_reader& in, uint64_t* to) { *to = in.get_uint64(); }
inline void GetValue(protozero::pbf_reader& in, std::string* to) { *to = in.get_string(); }
inline void GetValue(protozero::pbf_reader& in, std::string_view* to) {
  const protozero::data_view view = in.get_view();
  *to = {view.data(), view.size()};
}
inline void GetValue(protozero::pbf_reader& in, PackedColumn* to) {
  std::string_view bytes;
  GetValue(in, &bytes);
  *to = PackedColumn(bytes);
}
// Repeated fields; numbers may be packed or not.
inline void GetValue(protozero::pbf_reader& in, std::vector<std::string>* to) { to->push_back(in.get_string()); }
inline void GetValue(protozero::pbf_reader& in, std::vector<uint32_t>* to) {
  if (in.wire_type() != protozero::pbf_wire_type::length_delimited) return to->push_back(in.get_uint32());
  for (const uint32_t value : in.get_packed_uint32()) to->push_back(value);
}

// A field: its number, and a pointer to its variable or a function that reads it from the pbf_reader.
template <typename To>
class Field {
 public:
  constexpr Field(uint32_t number, To to) : number_(number), to_(to) {}

  // Returns false, and reads nothing, if `in` is at another field.
  bool Read(protozero::pbf_reader& in) const {
    if (in.tag() != number_) return false;
    if constexpr (std::is_pointer_v<To>) {
      GetValue(in, to_);
    } else {
      to_(in);
    }
    return true;
  }

 private:
  uint32_t number_;
  To to_;
};

// Fields of a fixed size.
inline auto FixedField(uint32_t number, uint32_t* to) {
  return Field(number, [to](protozero::pbf_reader& in) { *to = in.get_fixed32(); });
}
inline auto FixedField(uint32_t number, uint64_t* to) {
  return Field(number, [to](protozero::pbf_reader& in) { *to = in.get_fixed64(); });
}
inline auto FixedField(uint32_t number, std::vector<uint64_t>* to) {
  return Field(number, [to](protozero::pbf_reader& in) {
    if (in.wire_type() != protozero::pbf_wire_type::length_delimited) return to->push_back(in.get_fixed64());
    for (const uint64_t value : in.get_packed_fixed64()) to->push_back(value);
  });
}

// A repeated field of messages; `read` makes a row of one.
template <typename Row, typename ReadRow>
auto RowField(uint32_t number, std::vector<Row>* rows, ReadRow read) {
  return Field(number, [rows, read](protozero::pbf_reader& in) { rows->push_back(read(in.get_message())); });
}

// Packed fields whose numbers follow each other from `first` to `last`, each with its column in `columns`.
class ColumnFields {
 public:
  constexpr ColumnFields(uint32_t first, uint32_t last, PackedColumn* columns)
      : first_(first), last_(last), columns_(columns) {}
  bool Read(protozero::pbf_reader& in) const {
    if (in.tag() < first_ || in.tag() > last_) return false;
    GetValue(in, columns_ + (in.tag() - first_));
    return true;
  }

 private:
  uint32_t first_, last_;
  PackedColumn* columns_;
};

// Reads the field at which `in` is. Returns false, and reads nothing, if it is not among `fields`.
template <typename... Fields>
bool ReadAny(protozero::pbf_reader& in, const Fields&... fields) {
  return (fields.Read(in) || ...);
}

// Reads a message. Fields that are not among `fields` are skipped.
template <typename... Fields>
void ReadMessage(protozero::pbf_reader in, const Fields&... fields) {
  while (in.next()) {
    if (!ReadAny(in, fields...)) in.skip();
  }
}

}  // namespace vramtrack

#endif  // PROTO_READ_MESSAGE_H_
