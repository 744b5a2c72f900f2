// SPDX-License-Identifier: Apache-2.0
#include "proto/activity_decoder.h"

#include <limits>

#include "proto/read_message.h"

namespace vramtrack {
namespace {

namespace f = schema::activities_field;

struct Columns {
  PackedColumn shape[f::shape_pool - f::shape_kind + 1];
  PackedColumn record[f::record_address - f::record_shape + 1];
};

DecodedSpan ReadSpan(protozero::pbf_reader in) {
  namespace g = schema::activitySpan_field;
  DecodedSpan span;
  ReadMessage(in, Field(g::begins, &span.begins), Field(g::ticks, &span.ticks), Field(g::why, &span.why));
  return span;
}

std::pair<uint32_t, std::string_view> ReadText(protozero::pbf_reader in) {
  std::pair<uint32_t, std::string_view> text;
  ReadMessage(in, Field(schema::activityText_field::id, &text.first),
              Field(schema::activityText_field::text, &text.second));
  return text;
}

bool ReadFields(std::string_view payload, DecodedActivities* header, Columns* columns) {
  *header = {};
  try {
    ReadMessage(protozero::pbf_reader(payload.data(), payload.size()), FixedField(f::generation, &header->generation),
                Field(f::cupti_version, &header->cupti_version), Field(f::tie_cupti_ns, &header->tie_cupti_ns),
                Field(f::tie_ticks, &header->tie_ticks), Field(f::record_count, &header->record_count),
                RowField(f::texts, &header->texts, ReadText), RowField(f::spans, &header->spans, ReadSpan),
                ColumnFields(f::shape_kind, f::shape_pool, columns->shape),
                ColumnFields(f::record_shape, f::record_address, columns->record));
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
  for (uint64_t kind; columns.shape[0].Take(&kind);) {
    uint64_t value[f::shape_pool - f::shape_kind + 1] = {kind};
    for (size_t i = 1; i < sizeof value / sizeof *value; ++i) {
      if (!columns.shape[i].is_absent() && !columns.shape[i].Take(&value[i])) return false;
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
  PackedColumn* record = columns.record;
  uint64_t time = 0, address = 0, value;
  uint32_t correlation = 0;
  activities->records.reserve(activities->record_count);
  for (uint32_t i = 0; i < activities->record_count; ++i) {
    if (!record[0].Take(&value)) return false;
    const size_t row = value == 0 ? named++ : value - 1;
    if (row >= shapes.size()) return false;
    ActivityRecord one = shapes[row];
    if (!record[1].Take(&value)) return false;
    one.start_ns = time += static_cast<uint64_t>(UnZigZag(value));
    if (!record[2].Take(&value)) return false;
    one.correlation = correlation += static_cast<uint32_t>(UnZigZag(value));
    if (TakesTime(one.kind) && !record[3].Take(&one.duration_ns)) return false;
    if (HasAddress(one.kind)) {
      if (!record[4].Take(&value)) return false;
      one.address = address += static_cast<uint64_t>(UnZigZag(value));
    }
    activities->records.push_back(one);
  }
  return true;
}

}  // namespace vramtrack
