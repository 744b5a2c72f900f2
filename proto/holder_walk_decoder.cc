// SPDX-License-Identifier: Apache-2.0
#include "proto/holder_walk_decoder.h"

#include <limits>

#include "proto/read_message.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

namespace f = schema::holderWalk_field;

// The process writes parts of about 4 MiB. Rows take up to a hundred times the bytes of their columns, so a file that
// was made to do harm must not have larger ones.
constexpr size_t kMostBytes = 16 << 20;

constexpr uint32_t kFirstColumn = f::path_parent, kLastColumn = f::path_limit;

struct Columns {
  PackedColumn of[kLastColumn - kFirstColumn + 1];
  PackedColumn operator[](uint32_t field) const { return of[field - kFirstColumn]; }
};

bool ReadFields(std::string_view payload, bool with_names, DecodedHolderWalk* walk, Columns* columns) {
  *walk = {};
  const auto read_name = [&](protozero::pbf_reader& in) {
    std::string_view name;
    GetValue(in, &name);
    if (with_names) walk->names.push_back(name);
  };
  try {
    ReadMessage(protozero::pbf_reader(payload.data(), payload.size()), FixedField(f::generation, &walk->generation),
                Field(f::walk, &walk->walk), Field(f::part, &walk->part), Field(f::last, &walk->last),
                Field(f::moment, &walk->moment), Field(f::stopped, &walk->stopped),
                Field(f::begin_ticks, &walk->begin_ticks), Field(f::end_ticks, &walk->end_ticks),
                Field(f::objects, &walk->objects), Field(f::tensors, &walk->tensors), Field(f::names, read_name),
                ColumnFields(kFirstColumn, kLastColumn, columns->of));
  } catch (const protozero::exception&) {
    return false;
  }
  return walk->begin_ticks <= walk->end_ticks;
}

// Calls `take(value)` for each value of a column. False if one is malformed, or above `most`.
template <typename Take>
bool ReadColumn(PackedColumn column, uint64_t most, Take take) {
  for (uint64_t value; !column.done();) {
    if (!column.Take(&value) || value > most) return false;
    take(value);
  }
  return true;
}

// Reads a column into a member of `rows`. A missing column has zeros only. False if it is malformed or of another
// length.
template <typename Row, typename Value>
bool ReadMember(PackedColumn column, uint64_t most, Value Row::*member, std::vector<Row>* rows) {
  if (column.done()) return true;
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
