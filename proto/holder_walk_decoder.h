// SPDX-License-Identifier: Apache-2.0
//
// Reads a HolderWalk frame.
#ifndef PROTO_HOLDER_WALK_DECODER_H_
#define PROTO_HOLDER_WALK_DECODER_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace vramtrack {

// A row of the tree of paths. References are 1 + row; 0 is none.
struct DecodedHolderPath {
  uint32_t parent = 0;  // an earlier row
  uint32_t step = 0;    // schema::HolderStep
  uint32_t name = 0, type = 0, file = 0;
  uint64_t entries = 0, objects = 0, limit = 0;
};

// The holder of one block.
struct DecodedHolderBlock {
  uint64_t address = 0;
  uint32_t device = 0, path = 0, type = 0, dtype = 0, shape = 0;
  uint32_t flags = 0;  // schema::HolderFlags
};

// One part of a walk. References are 1 + row, and all of them are valid.
struct DecodedHolderWalk {
  uint32_t generation = 0, walk = 0, part = 0;
  bool last = false;
  uint32_t moment = 0, stopped = 0;  // schema::HolderMoment and schema::HolderStop; may be unknown ones
  uint64_t begin_ticks = 0, end_ticks = 0, objects = 0, tensors = 0;
  std::vector<std::string_view> names;  // views into the payload
  std::vector<DecodedHolderPath> paths;
  std::vector<std::vector<uint64_t>> shapes;
  std::vector<DecodedHolderBlock> blocks;
};

// Reads everything but the tables of names, paths, shapes and blocks. False if malformed.
bool ReadHolderWalkHeader(std::string_view payload, DecodedHolderWalk* walk);
// Reads everything. False if malformed; what was filled in is then of no use.
bool ReadHolderWalk(std::string_view payload, DecodedHolderWalk* walk);

}  // namespace vramtrack

#endif  // PROTO_HOLDER_WALK_DECODER_H_
