// SPDX-License-Identifier: Apache-2.0
#include "proto/block_decoder.h"

#include "proto/block_encoder.h"
#include "proto/read_message.h"

namespace vramtrack {
namespace {

namespace f = schema::block_field;

// Calls `column(field, bytes)` for every length-delimited field behind the definitions.
template <typename OnColumn>
bool ReadFields(std::string_view payload, BlockHeader* header, OnColumn column) {
  *header = {};
  try {
    protozero::pbf_reader in(payload.data(), payload.size());
    while (in.next()) {
      if (ReadAny(in, Field(f::thread, &header->thread), Field(f::first_sequence, &header->first_sequence),
                  Field(f::first_allocation, &header->first_allocation), Field(f::first_time, &header->first_time),
                  Field(f::time_shift, &header->time_shift), Field(f::address_shift, &header->address_shift),
                  Field(f::event_count, &header->event_count), Field(f::allocation_count, &header->allocation_count),
                  FixedField(f::generation, &header->generation), Field(f::definitions, &header->definitions))) {
        continue;
      }
      if (in.wire_type() != protozero::pbf_wire_type::length_delimited) {
        in.skip();
        continue;
      }
      const uint32_t field = in.tag();  // before get_view, which forgets it in debug builds
      if (!column(field, in.get_view())) return true;
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return header->time_shift < 64 && header->address_shift < 64;
}

}  // namespace

bool BlockDecoder::ReadHeader(std::string_view payload, BlockHeader* header) {
  constexpr auto allocated = [](schema::Kind kind) { return uint64_t{kind} << kShapeCallBits | schema::ALLOCATE; };
  constexpr uint64_t kBlock = allocated(schema::FRAMEWORK_BLOCK), kPinnedBlock = allocated(schema::PINNED_BLOCK);
  std::string_view calls;
  bool blocks = false;
  return ReadFields(payload, header, [&](uint32_t field, protozero::data_view view) {
    const auto* at = reinterpret_cast<const uint8_t*>(view.data());
    const auto* const end = at + view.size();
    if (field == f::shape_call) {
      calls = {view.data(), view.size()};
      for (uint64_t call; GetVarint(&at, end, &call);) {
        header->operations |= 1u << (call & ((1u << kShapeCallBits) - 1));
        blocks |= call == kBlock;
        header->has_pinned_blocks |= call == kPinnedBlock;
      }
      if (blocks) header->framework_devices = 1;  // a column of zeros is left out
      return blocks;
    }
    if (field != f::shape_device) return false;
    header->framework_devices = 0;
    const auto* call_at = reinterpret_cast<const uint8_t*>(calls.data());
    const auto* const calls_end = call_at + calls.size();
    for (uint64_t call, device; GetVarint(&call_at, calls_end, &call) && GetVarint(&at, end, &device);) {
      if (call == kBlock && device < 64) header->framework_devices |= uint64_t{1} << device;
    }
    return false;
  });
}

bool BlockDecoder::ReadOrigin(std::string_view beginning, uint32_t* thread, uint64_t* first_sequence) {
  const auto* at = reinterpret_cast<const uint8_t*>(beginning.data());
  const uint8_t* end = at + beginning.size();
  *thread = 0;
  *first_sequence = 0;
  // They come first, but for the generation; what is 0 is left out.
  if (end - at > 5 && *at == (f::generation << 3 | 5)) at += 5;
  uint64_t tag, value;
  while (GetVarint(&at, end, &tag)) {
    if (tag != f::thread << 3 && tag != f::first_sequence << 3) return true;
    if (!GetVarint(&at, end, &value)) return false;
    if (tag == f::thread << 3) *thread = static_cast<uint32_t>(value);
    if (tag == f::first_sequence << 3) *first_sequence = value;
  }
  return false;
}

bool BlockDecoder::Open(std::string_view payload) {
  error_ = "";
  left_ = 0;
  Cursor shape_columns[kShapeColumns];
  event_shape_ = event_time_ = address_column_ = age_ = foreign_column_ = value_ = {};
  const bool read = ReadFields(payload, &header_, [&](uint32_t field, protozero::data_view view) {
    const auto* begin = reinterpret_cast<const uint8_t*>(view.data());
    const Cursor cursor = {begin, begin + view.size()};
    if (field >= f::shape_call && field <= f::shape_stream) shape_columns[field - f::shape_call] = cursor;
    switch (field) {
      case f::event_shape:
        event_shape_ = cursor;
        break;
      case f::event_time:
        event_time_ = cursor;
        break;
      case f::allocation_address:
        address_column_ = cursor;
        break;
      case f::free_age:
        age_ = cursor;
        break;
      case f::free_foreign:
        foreign_column_ = cursor;
        break;
      case f::value:
        value_ = cursor;
        break;
      default:
        break;
    }
    return true;
  });
  if (!read || !ReadShapes(shape_columns)) return Fail();
  // An event takes a byte at least: a count that its columns cannot hold is damage.
  if (header_.event_count > static_cast<size_t>(event_shape_.end - event_shape_.at)) return Fail();
  left_ = header_.event_count;
  time_ = header_.first_time >> header_.time_shift;
  address_ = foreign_ = 0;
  ordinal_ = header_.first_allocation;
  return true;
}

bool BlockDecoder::ReadShapes(const Cursor (&columns)[kShapeColumns]) {
  static_assert(f::shape_stream - f::shape_call == kShapeColumns - 1, "columns follow each other");
  Cursor cursor[kShapeColumns];
  for (int i = 0; i < kShapeColumns; ++i) cursor[i] = columns[i];
  shapes_.clear();
  next_shape_ = 0;
  // An absent column is all zeros.
  const auto next = [&](int column, uint64_t* value) {
    *value = 0;
    return columns[column].at == columns[column].end || Read(&cursor[column], value);
  };
  while (cursor[0].at != cursor[0].end) {
    // Field by field: a copy of a shape that was just written in parts would stall the processor.
    shapes_.emplace_back();
    DecodedShape& shape = shapes_.back();
    uint64_t call, device, ref;
    if (!next(0, &call) || !next(1, &device) || !next(2, &ref) || !next(3, &shape.bytes) || !next(4, &shape.stream)) {
      return false;
    }
    shape.operation = call & ((1u << kShapeCallBits) - 1);
    shape.kind = static_cast<uint32_t>(call) >> kShapeCallBits;
    shape.device = static_cast<uint32_t>(device);
    shape.ref = static_cast<uint32_t>(ref);
  }
  return true;
}

bool BlockDecoder::ReadValues(uint32_t operation, DecodedEvent* event) {
  int count = 0;
  switch (operation) {
    case schema::FREE_UNKNOWN:
    case schema::FAIL:
    case schema::FREE_FAILED:
      count = 1;
      break;
    case schema::STEP:
    case schema::MEMORY_INFO:
    case schema::TRIM:
    case schema::LIMIT:
    case schema::FRAMEWORK_MEMORY:
    case schema::MARK:
      count = 2;
      break;
    case schema::DEVICE_RESET:
      break;
    default:
      return Fail();
  }
  for (int i = 0; i < count; ++i) {
    if (!Read(&value_, &event->value[i])) return Fail();
  }
  return true;
}

bool BlockDecoder::Fail() {
  left_ = 0;
  error_ = "the columns of a block do not fit together";
  return false;
}

}  // namespace vramtrack
