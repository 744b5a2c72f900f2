// SPDX-License-Identifier: Apache-2.0
//
// Writes what a walk found as HolderWalk frames: the paths of the blocks as a tree, with their names.
#ifndef INTERPOSE_HOLDERS_WALK_RECORD_H_
#define INTERPOSE_HOLDERS_WALK_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/base/growing_array.h"
#include "interpose/base/row_table.h"
#include "interpose/holders/object_walk.h"

namespace vramtrack::holders {

struct WalkFacts {
  uint32_t number;  // counted from 1
  schema::HolderMoment moment;
  schema::HolderStop stopped;
  uint64_t begin_ticks, end_ticks;
};

// Use each object for one walk. Needs zeroed memory. Not thread-safe.
class WalkRecord {
 public:
  // Prepares the record of a finished walk, whose objects must not change before the last frame is made.
  void Begin(ObjectWalk* walk, const WalkFacts& facts);

  // Makes the next frame, of about `most_bytes` at most, with space for a generation if the file is bounded. Returns
  // null after the last one, and if there is no memory. The frame is valid until the next call.
  uint8_t* Next(size_t most_bytes, bool bounded, size_t* frame_bytes);

  void Free();

 private:
  struct Path {
    uint32_t parent, step, name;
  };
  struct Row {
    uint32_t type, file, depth;
    uint64_t entries, objects, limit;
  };
  struct Shape {
    uint64_t dimensions;
    int64_t sizes[5];
  };

  bool StartFrame();
  uint32_t Name(const char* text, size_t size);
  uint32_t NameOfStep(const Entry& entry, schema::HolderStep* step);
  uint32_t TypeName(const Entry& entry);
  uint32_t FileName(const Entry& entry);
  uint32_t CodeName(uint64_t code, uint16_t field);
  uint32_t RowOf(uint32_t entry);
  uint32_t AddRow(uint32_t parent, const Entry& entry);
  void NoteEntries(const Entry& entry, uint64_t entries, Row* row);
  uint32_t ShapeOf(const TensorFacts& facts);
  uint8_t* Encode(size_t first, size_t end, bool last, bool bounded, size_t* frame_bytes);

  ObjectWalk* walk_;
  WalkFacts facts_;
  uint32_t part_;
  size_t next_block_;
  bool ended_, good_;
  uint64_t tensors_;
  GrowingArray<uint8_t> names_;  // encoded fields
  uint32_t name_count_;
  CompactTable<uint32_t> name_numbers_;
  RowTable<Path> paths_;
  GrowingArray<Row> rows_;  // of these
  RowTable<Shape> shapes_;
  GrowingArray<uint32_t> chain_;
  struct BlockRow {
    uint32_t path, type, shape;
  };
  GrowingArray<BlockRow> block_rows_;
  GrowingArray<uint8_t> frame_;
};

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_WALK_RECORD_H_
