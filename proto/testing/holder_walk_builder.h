// SPDX-License-Identifier: Apache-2.0
//
// Makes HolderWalk frames in memory, for tests and benchmarks.
#ifndef PROTO_TESTING_HOLDER_WALK_BUILDER_H_
#define PROTO_TESTING_HOLDER_WALK_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/schema_constants.h"

namespace vramtrack {

// One part of a walk. References are 1 + row; 0 is none. Thread-compatible.
class HolderWalkBuilder {
 public:
  HolderWalkBuilder(uint32_t walk, schema::HolderMoment moment, uint64_t begin_ticks, uint64_t end_ticks)
      : walk_(walk), moment_(moment), begin_ticks_(begin_ticks), end_ticks_(end_ticks) {}

  // Makes this part `part` of its walk. It is part 0 and the last one otherwise.
  void SetPart(uint32_t part, bool last) {
    part_ = part;
    last_ = last;
  }
  void SetStopped(schema::HolderStop stopped) { stopped_ = stopped; }
  void SetCounts(uint64_t objects, uint64_t tensors) {
    objects_ = objects;
    tensors_ = tensors;
  }
  void SetGeneration(uint32_t generation) { generation_ = generation; }

  // Adds a step to the path `parent` and returns the longer path.
  uint32_t Path(uint32_t parent, schema::HolderStep step, const std::string& name = "", const std::string& type = "",
                uint64_t entries = 0, uint64_t objects = 1, const std::string& file = "");
  // Says how many entries the object at the end of a path takes at most.
  void Limit(uint32_t path, uint64_t entries) { limits_[path - 1] = entries; }
  uint32_t Shape(const std::vector<uint64_t>& sizes);
  // Blocks may be added in any order.
  void Block(uint64_t address, uint32_t path, uint32_t flags = 0, const std::string& type = "Tensor",
             uint32_t dtype = 7, uint32_t shape = 0, uint32_t device = 0);

  // Returns the sealed frame.
  std::string Frame() const;

 private:
  struct BlockRow {
    uint32_t device, path, type, dtype, shape, flags;
  };

  uint32_t Name(const std::string& name);

  uint32_t walk_;
  schema::HolderMoment moment_;
  uint64_t begin_ticks_, end_ticks_;
  uint32_t part_ = 0, generation_ = 0;
  bool last_ = true;
  schema::HolderStop stopped_ = schema::HOLDERS_COMPLETE;
  uint64_t objects_ = 0, tensors_ = 0;
  std::vector<std::string> names_;
  std::vector<uint64_t> path_[7];  // one for each column, from path_parent on
  std::vector<uint64_t> limits_;   // by path
  std::vector<uint64_t> shape_dimensions_, shape_sizes_;
  std::multimap<uint64_t, BlockRow> blocks_;  // by address
};

}  // namespace vramtrack

#endif  // PROTO_TESTING_HOLDER_WALK_BUILDER_H_
