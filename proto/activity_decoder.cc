// SPDX-License-Identifier: Apache-2.0
#include "proto/activity_decoder.h"

#include <limits>

#include "proto/pbf_reader.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::activities_field;

struct Cursor {
  const uint8_t* at = nullptr;
  const uint8_t* end = nullptr;
  bool Next(uint64_t* value) { return GetVarint(&at, end, value); }
};

struct Columns {
  Cursor shape[f::shape_pool - f::shape_kind + 1];
  Cursor record[f::record_address - f::record_shape + 1];
};

DecodedSpan ReadSpan(protozero::pbf_reader reader) {
  DecodedSpan span;
  while (reader.next()) {
    switch (reader.tag()) {
      case schema::activitySpan_field::begins:
        span.begins = reader.get_bool();
        break;
      case schema::activitySpan_field::ticks:
        span.ticks = reader.get_uint64();
        break;
      case schema::activitySpan_field::why:
        span.why = reader.get_string();
        break;
      default:
        reader.skip();
    }
  }
  return span;
}

std::pair<uint32_t, std::string_view> ReadText(protozero::pbf_reader reader) {
  std::pair<uint32_t, std::string_view> text;
  while (reader.next()) {
    switch (reader.tag()) {
      case schema::activityText_field::id:
        text.first = reader.get_uint32();
        break;
      case schema::activityText_field::text: {
        const protozero::data_view view = reader.get_view();
        text.second = {view.data(), view.size()};
        break;
      }
      default:
        reader.skip();
    }
  }
  return text;
}

bool ReadFields(std::string_view payload, DecodedActivities* header, Columns* columns) {
  *header = {};
  try {
    protozero::pbf_reader reader(payload.data(), payload.size());
    while (reader.next()) {
      const uint32_t field = reader.tag();
      switch (field) {
        case f::generation:
          header->generation = reader.get_fixed32();
          break;
        case f::cupti_version:
          header->cupti_version = reader.get_uint32();
          break;
        case f::tie_cupti_ns:
          header->tie_cupti_ns = reader.get_uint64();
          break;
        case f::tie_ticks:
          header->tie_ticks = reader.get_uint64();
          break;
        case f::record_count:
          header->record_count = reader.get_uint32();
          break;
        case f::texts:
          header->texts.push_back(ReadText(reader.get_message()));
          break;
        case f::spans:
          header->spans.push_back(ReadSpan(reader.get_message()));
          break;
        default: {
          const bool of_shape = field >= f::shape_kind && field <= f::shape_pool;
          const bool of_record = field >= f::record_shape && field <= f::record_address;
          if (!of_shape && !of_record) {
            reader.skip();
            break;
          }
          const protozero::data_view view = reader.get_view();
          const auto* at = reinterpret_cast<const uint8_t*>(view.data());
          (of_shape ? columns->shape[field - f::shape_kind] : columns->record[field - f::record_shape]) = {
              at, at + view.size()};
        }
      }
    }
  } catch (const protozero::exception&) {
    return false;
  }
  // A record takes a byte in each of three columns at least.
  return header->record_count <= payload.size() / 3;
}

}  // namespace

bool ReadActivitiesHeader(std::string_view payload, DecodedActivities* header) {
  Columns columns;
  return ReadFields(payload, header, &columns);
}

bool ReadActivities(std::string_view payload, DecodedActivities* activities) {
  Columns columns;
  if (!ReadFields(payload, activities, &columns)) return false;
  std::vector<ActivityRecord> shapes;
  size_t named = 0;
  for (uint64_t kind; columns.shape[0].Next(&kind);) {
    uint64_t value[f::shape_pool - f::shape_kind + 1] = {kind};
    for (size_t i = 1; i < sizeof value / sizeof *value; ++i) {
      if (columns.shape[i].end != nullptr && !columns.shape[i].Next(&value[i])) return false;
    }
    for (size_t i = 0; i < 6; ++i) {
      if (value[i] > std::numeric_limits<uint32_t>::max()) return false;
    }
    ActivityRecord shape;
    shape.kind = static_cast<uint32_t>(value[0]);
    shape.operation = static_cast<uint32_t>(value[1]);
    shape.memory = static_cast<uint32_t>(value[2]);
    shape.device = static_cast<uint32_t>(value[3]);
    shape.stream = static_cast<uint32_t>(value[4]);
    shape.text = static_cast<uint32_t>(value[5]);
    shape.bytes = value[6];
    shape.pool = value[7];
    shapes.push_back(shape);
  }
  Cursor* record = columns.record;
  uint64_t time = 0, address = 0, value;
  uint32_t correlation = 0;
  activities->records.reserve(activities->record_count);
  for (uint32_t i = 0; i < activities->record_count; ++i) {
    if (!record[0].Next(&value)) return false;
    const size_t row = value == 0 ? named++ : value - 1;
    if (row >= shapes.size()) return false;
    ActivityRecord one = shapes[row];
    if (!record[1].Next(&value)) return false;
    one.start_ns = time += static_cast<uint64_t>(UnZigZag(value));
    if (!record[2].Next(&value)) return false;
    one.correlation = correlation += static_cast<uint32_t>(UnZigZag(value));
    if (TakesTime(one.kind) && !record[3].Next(&one.duration_ns)) return false;
    if (HasAddress(one.kind)) {
      if (!record[4].Next(&value)) return false;
      one.address = address += static_cast<uint64_t>(UnZigZag(value));
    }
    activities->records.push_back(one);
  }
  return true;
}

}  // namespace vramtrack
