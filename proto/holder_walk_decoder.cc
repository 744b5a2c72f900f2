// SPDX-License-Identifier: Apache-2.0
#include "proto/holder_walk_decoder.h"

#include <limits>

#include "proto/pbf_reader.h"
#include "proto/schema_constants.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::holderWalk_field;

// The process writes parts of about 4 MiB. Rows take up to a hundred times the bytes of their columns, so a file that
// was made to do harm must not have larger ones.
constexpr size_t kMostBytes = 16 << 20;

constexpr uint32_t kFirstColumn = f::path_parent, kLastColumn = f::path_limit;

// A column of varints.
using Column = std::string_view;

struct Columns {
  Column of[kLastColumn - kFirstColumn + 1];
  Column operator[](uint32_t field) const { return of[field - kFirstColumn]; }
};

bool ReadFields(std::string_view payload, bool with_names, DecodedHolderWalk* walk, Columns* columns) {
  *walk = {};
  try {
    protozero::pbf_reader reader(payload.data(), payload.size());
    while (reader.next()) {
      const uint32_t field = reader.tag();
      switch (field) {
        case f::generation:
          walk->generation = reader.get_fixed32();
          break;
        case f::walk:
          walk->walk = reader.get_uint32();
          break;
        case f::part:
          walk->part = reader.get_uint32();
          break;
        case f::last:
          walk->last = reader.get_bool();
          break;
        case f::moment:
          walk->moment = reader.get_uint32();
          break;
        case f::stopped:
          walk->stopped = reader.get_uint32();
          break;
        case f::begin_ticks:
          walk->begin_ticks = reader.get_uint64();
          break;
        case f::end_ticks:
          walk->end_ticks = reader.get_uint64();
          break;
        case f::objects:
          walk->objects = reader.get_uint64();
          break;
        case f::tensors:
          walk->tensors = reader.get_uint64();
          break;
        case f::names: {
          const protozero::data_view view = reader.get_view();
          if (with_names) walk->names.emplace_back(view.data(), view.size());
          break;
        }
        default: {
          if (field < kFirstColumn || field > kLastColumn) {
            reader.skip();
            break;
          }
          const protozero::data_view view = reader.get_view();
          columns->of[field - kFirstColumn] = {view.data(), view.size()};
        }
      }
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return walk->begin_ticks <= walk->end_ticks;
}

// Calls `take(value)` for each value of a column. False if one is malformed, or above `most`.
template <typename Take>
bool ReadColumn(Column column, uint64_t most, Take take) {
  const auto* at = reinterpret_cast<const uint8_t*>(column.data());
  const auto* end = at + column.size();
  for (uint64_t value; at < end;) {
    if (!GetVarint(&at, end, &value) || value > most) return false;
    take(value);
  }
  return true;
}

// Reads a column into a member of `rows`. A missing column has zeros only. False if it is malformed or of another
// length.
template <typename Row, typename Value>
bool ReadMember(Column column, uint64_t most, Value Row::*member, std::vector<Row>* rows) {
  if (column.empty()) return true;
  size_t row = 0;
  const bool fine = ReadColumn(column, most, [&](uint64_t value) {
    if (row < rows->size()) (*rows)[row].*member = static_cast<Value>(value);
    ++row;
  });
  return fine && row == rows->size();
}

constexpr uint64_t kAny32 = std::numeric_limits<uint32_t>::max(), kAny64 = std::numeric_limits<uint64_t>::max();

bool ReadPaths(const Columns& columns, DecodedHolderWalk* walk) {
  // A step is never 0, so its column is always there.
  if (!ReadColumn(columns[f::path_step], kAny32, [walk](uint64_t step) {
        walk->paths.emplace_back();
        walk->paths.back().step = static_cast<uint32_t>(step);
      })) {
    return false;
  }
  const size_t rows = walk->paths.size(), names = walk->names.size();
  if (!ReadMember(columns[f::path_parent], rows, &DecodedHolderPath::parent, &walk->paths) ||
      !ReadMember(columns[f::path_name], names, &DecodedHolderPath::name, &walk->paths) ||
      !ReadMember(columns[f::path_type], names, &DecodedHolderPath::type, &walk->paths) ||
      !ReadMember(columns[f::path_entries], kAny64, &DecodedHolderPath::entries, &walk->paths) ||
      !ReadMember(columns[f::path_objects], kAny64, &DecodedHolderPath::objects, &walk->paths) ||
      !ReadMember(columns[f::path_file], names, &DecodedHolderPath::file, &walk->paths) ||
      !ReadMember(columns[f::path_limit], kAny64, &DecodedHolderPath::limit, &walk->paths)) {
    return false;
  }
  for (size_t row = 0; row < rows; ++row) {
    if (walk->paths[row].parent > row) return false;
  }
  return true;
}

bool ReadShapes(const Columns& columns, DecodedHolderWalk* walk) {
  std::vector<uint64_t> sizes;
  if (!ReadColumn(columns[f::shape_sizes], kAny64, [&sizes](uint64_t size) { sizes.push_back(size); })) return false;
  size_t used = 0;
  bool fits = true;
  const bool fine = ReadColumn(columns[f::shape_dimensions], kAny32, [&](uint64_t dimensions) {
    fits = fits && dimensions <= sizes.size() - used;
    if (!fits) return;
    const auto from = sizes.begin() + static_cast<std::ptrdiff_t>(used);
    walk->shapes.emplace_back(from, from + static_cast<std::ptrdiff_t>(dimensions));
    used += dimensions;
  });
  return fine && fits && used == sizes.size();
}

bool ReadBlocks(const Columns& columns, DecodedHolderWalk* walk) {
  uint64_t address = 0;
  bool ascends = true;
  if (!ReadColumn(columns[f::block_address], kAny64, [&](uint64_t difference) {
        ascends = ascends && difference <= kAny64 - address;
        address += difference;
        walk->blocks.emplace_back();
        walk->blocks.back().address = address;
      })) {
    return false;
  }
  return ascends && ReadMember(columns[f::block_device], kAny32, &DecodedHolderBlock::device, &walk->blocks) &&
         ReadMember(columns[f::block_path], walk->paths.size(), &DecodedHolderBlock::path, &walk->blocks) &&
         ReadMember(columns[f::block_type], walk->names.size(), &DecodedHolderBlock::type, &walk->blocks) &&
         ReadMember(columns[f::block_dtype], kAny32, &DecodedHolderBlock::dtype, &walk->blocks) &&
         ReadMember(columns[f::block_shape], walk->shapes.size(), &DecodedHolderBlock::shape, &walk->blocks) &&
         ReadMember(columns[f::block_flags], kAny32, &DecodedHolderBlock::flags, &walk->blocks);
}

}  // namespace

bool ReadHolderWalkHeader(std::string_view payload, DecodedHolderWalk* walk) {
  Columns columns;
  return ReadFields(payload, false, walk, &columns);
}

bool ReadHolderWalk(std::string_view payload, DecodedHolderWalk* walk) {
  Columns columns;
  return payload.size() <= kMostBytes && ReadFields(payload, true, walk, &columns) && ReadPaths(columns, walk) &&
         ReadShapes(columns, walk) && ReadBlocks(columns, walk);
}

}  // namespace vramtrack
